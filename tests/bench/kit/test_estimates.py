"""Estimates and how often their intervals hold: on a table whose figures are known."""

from __future__ import annotations

import numpy as np
import pytest

from core.mechanisms.tree.tree import Tree
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.marginals import Marginals
from core.schema.domain import Booleans, Domain, Integers
from core.table.stand_in import StandIn
from tests.bench.kit.estimates import (
    BETWEEN,
    HELD_OUT,
    ONCE_HELD_OUT,
    TUNED,
    covered,
    family_table,
    regression,
    statistics,
)
from tests.bench.utility import Task


def task() -> Task:
    """The target is 1 in a fifth of the rows where a is 0, in two fifths where it is 1, and so on; b is a again."""
    a = np.repeat(np.arange(4), 500)
    target = (np.tile(np.arange(5), 400) <= a).astype(np.int64)
    domain = Domain((Integers(name="a", low=0, high=3), Integers(name="b", low=0, high=3), Booleans(name="target")))
    rows = StandIn(domain, np.stack([a, a, target], axis=1), Unit.row())
    return Task("made", domain, "target", rows, rows.codes)


def test_statistics_of_a_table_that_is_known() -> None:
    found = statistics(task(), task().known.codes)
    assert found["correlation"].tolist() == pytest.approx([1.0])
    assert found["group_mean"].tolist() == pytest.approx([0.2, 0.4, 0.6, 0.8] * 2)
    slopes, errors = regression(task().known.codes[:, :1], task().known.codes[:, 2])
    assert slopes.tolist() == pytest.approx([0.2])
    assert errors[0] == pytest.approx(np.sqrt(0.2 / (2_000 * 1.25)), rel=0.01)


def test_intervals_of_a_release_that_is_nearly_exact_hold_and_are_short() -> None:
    tree = Tree(queries=(Marginals(order=2),), budget=Budget(1_000, 1e-9))
    found = covered(task(), tree, runs=1, copies=3)
    assert found["within_group_mean"] > 0.8
    assert found["width_group_mean"] < 0.05
    assert found["error_correlation"] < 0.01


def test_tables_held_out_are_others() -> None:
    assert not {*TUNED, *BETWEEN, *ONCE_HELD_OUT} & set(HELD_OUT)
    assert not {*TUNED, *BETWEEN} & set(ONCE_HELD_OUT)
    assert not {family for family, _ in HELD_OUT} & {family for family, _ in (*TUNED, *BETWEEN, *ONCE_HELD_OUT)}
    made, target = family_table("trial", 1)
    assert made.domain[target].size == 2
    assert np.array_equal(made.codes, family_table("trial", 1)[0].codes)


@pytest.mark.parametrize(("family", "seed"), HELD_OUT)
def test_tables_held_out_have_all_that_is_estimated(family: str, seed: int) -> None:
    made, target = family_table(family, seed)
    other = Task.of(family, made, target)
    assert target == made.domain.names[-1]
    assert len(other.ordered()) >= 4
    assert all(np.isfinite(values).all() and values.size for values in statistics(other, other.known.codes).values())
