import math

import numpy as np
import pytest

from core.base.errors import BadParameter
from core.queries.marginals import Marginals
from tests.core.samples import SMALL, small_counts


def test_all_pairs_in_the_order_of_the_schema():
    assert Marginals(order=2).tables(SMALL) == (("colour", "size"), ("colour", "old"), ("size", "old"))
    assert Marginals(order=1, columns=("old", "colour")).tables(SMALL) == (("colour",), ("old",))
    assert Marginals(order=3).tables(SMALL) == (SMALL.names,)


def test_answers_are_shares_of_the_table():
    counts = small_counts()
    answers = Marginals(order=2).answers(counts)
    assert answers.size == 12 + 6 + 8
    assert math.isclose(answers.sum(), 3.0)
    assert np.allclose(answers[:12], counts.marginal(("colour", "size")).ravel() / 5_000)


def test_log_size_counts_every_cell():
    assert math.isclose(Marginals(order=2).log_size(SMALL), math.log(26))


def test_explicit_sets_and_weights():
    chosen = Marginals(sets=[["old"], ["colour", "old"]], weights=[1, 3])
    assert chosen.weight_of(SMALL) == {("old",): 1.0, ("colour", "old"): 3.0}
    assert chosen.sentence(SMALL) == "2 tables of 1 to 2 columns, 8 counts in all"


@pytest.mark.parametrize(
    ("options", "parameter"),
    [
        ({"order": 0}, "order"),
        ({"order": True}, "order"),
        ({"order": 1.5}, "order"),
        ({"order": 4}, "order"),
        ({"columns": ("nobody",)}, "columns"),
        ({"columns": ("old", "old")}, "columns"),
        ({"sets": (("old",),), "weights": (1, 2)}, "weights"),
        ({"sets": (("old",),), "weights": (float("nan"),)}, "weights"),
        ({"sets": (("old",),), "weights": (0,)}, "weights"),
    ],
)
def test_bad_options_are_named(options, parameter):
    with pytest.raises(BadParameter) as problem:
        Marginals(**options).check(SMALL)
    assert problem.value.parameter == parameter
