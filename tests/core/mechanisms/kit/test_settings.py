"""Options in the same words mean the same wherever they are offered."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import pytest

from core import registry
from core.base.errors import BadParameter
from core.base.options import options_of
from core.mechanisms.kit.settings import accuracy_option, settle
from core.queries.marginals import Marginals


@dataclass(frozen=True, kw_only=True)
class Searched:
    queries: tuple[Marginals, ...]
    accuracy: float = accuracy_option("Largest error.")

    def __post_init__(self):
        settle(self)


def test_classes_become_a_tuple_and_options_are_held_against_their_declaration():
    assert Searched(queries=[Marginals(order=1)]).queries == (Marginals(order=1),)
    for outside in (0.0, 1.0, "much"):
        with pytest.raises(BadParameter, match="accuracy"):
            Searched(queries=[], accuracy=outside)


def test_one_name_of_an_option_has_one_label():
    """A curator who knows 'rows' or 'questions' of one mechanism knows it of the others of its kind."""
    for kinds in (registry.offline, registry.interactive):
        labels = defaultdict(set)
        for kind in kinds.values():
            for each in options_of(kind):
                labels[each.name].add((each.label, each.kind))
        several = {name for name, found in labels.items() if len(found) > 1}
        # A net is a list of databases or a number of planes; rows are those of a small database or of the table; and
        # 'online-laplace' answers so many questions and no more, where others are laid out for them.
        assert several <= {"net", "rows", "questions"}, {name: labels[name] for name in several}
