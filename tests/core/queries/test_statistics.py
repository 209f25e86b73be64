"""Statistics by group as linear questions: what they count, in which order, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from core.base.errors import BadParameter, DeskError, Refused
from core.queries.statistics import WHOLE, Statistics
from core.schema.domain import Booleans, Categories, Domain, Integers
from core.table.counts import Cells

DOMAIN = Domain(
    (
        Booleans(name="ill"),
        Integers(name="age", low=10, high=14, missing=True),
        Categories(name="town", values=("n", "s")),
    )
)
COUNTS = Cells(DOMAIN, np.random.default_rng(4).integers(0, 5, DOMAIN.cells()))


def test_each_group_has_its_rows_its_sum_and_its_running_counts() -> None:
    asked = Statistics(column="age", groups=("town", "ill"))
    totals = asked.totals(COUNTS).reshape(2, 2, 6)
    table = COUNTS.marginal(("ill", "age", "town"))
    for ill in range(2):
        for town in range(2):
            own = table[ill, :5, town]
            rows, places, *running = totals[ill, town]
            assert rows == own.sum() * WHOLE
            assert places == (own * [0, 1, 2, 3, 4]).sum() * WHOLE // 4
            assert running == (np.cumsum(own)[:-1] * WHOLE).tolist()


def test_a_row_moves_no_total_by_more_than_the_denominator() -> None:
    asked = Statistics(column="age", groups=("town",))
    before = asked.totals(COUNTS)
    cells = COUNTS.marginal(DOMAIN.names)
    for place in range(cells.size):
        more = cells.copy().ravel()
        more[place] += 1
        change = asked.totals(Cells(DOMAIN, more.reshape(cells.shape))) - before
        assert change.min() >= 0 and change.max() <= asked.denominator(DOMAIN)


def test_words() -> None:
    asked = Statistics(column="age", groups=("town",))
    assert asked.member(DOMAIN, 0).words == "share of rows with a value of age among those with town = n"
    assert asked.member(DOMAIN, 8).words == "share of rows with age = 10 among those with town = s"
    assert "sum of age" in asked.member(DOMAIN, 1).words
    assert asked.sentence(DOMAIN) == "number, sum, mean and quantiles of age by town (2 groups)"


@pytest.mark.parametrize(
    ("column", "groups", "words"), [("town", (), "town"), ("gone", (), "gone"), ("age", ("gone",), "gone")]
)
def test_columns_that_do_not_fit_are_refused(column: str, groups: tuple[str, ...], words: str) -> None:
    with pytest.raises(DeskError, match=words):
        Statistics(column=column, groups=groups).check(DOMAIN)


def test_a_column_is_no_group_of_its_own() -> None:
    with pytest.raises(BadParameter, match="cannot be a group"):
        Statistics(column="age", groups=("age",))


def test_more_numbers_than_a_release_lists_are_refused_before_it_is_priced() -> None:
    """The refusal came when noise was drawn, and the payment was lost."""
    columns = (Integers(name="value", low=0, high=2047), Integers(name="fine", low=0, high=1023))
    domain = Domain((*columns, Integers(name="coarse", low=0, high=499)))
    Statistics(column="value", groups=("coarse",)).check(domain)
    with pytest.raises(
        Refused, match="lay out 2,098,176 numbers, 2,049 for each of 1,024 groups, and at most 1,048,576"
    ):
        Statistics(column="value", groups=("fine",)).check(domain)
