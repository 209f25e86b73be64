"""Measuring is usual where public facts say that it tells something."""

from __future__ import annotations

from core.mechanisms.measured.usual_measure import USUAL, usual_measure
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.marginals import Marginals
from tests.core.samples import SMALL

PAIRS = (Marginals(order=2),)


def test_only_where_enough_rows_are_known():
    told = [usual_measure(PAIRS, Budget(1), SMALL, Unit.row(), rows) for rows in (None, 1_000, 1_000_000)]
    assert told == [0, 0, USUAL]


def test_more_budget_needs_fewer_rows():
    assert usual_measure(PAIRS, Budget(1), SMALL, Unit.row(), 20_000) == 0
    assert usual_measure(PAIRS, Budget(10), SMALL, Unit.row(), 20_000) == USUAL
    assert usual_measure(PAIRS, Budget(1, "1e-9"), SMALL, Unit.row(), 20_000) == USUAL, "Gaussian noise is smaller"


def test_persons_with_many_rows_need_more():
    assert usual_measure(PAIRS, Budget(1), SMALL, Unit.id("who", 100), 1_000_000) == 0


def test_a_wrong_choice_is_refused_elsewhere():
    unknown = (Marginals(order=1, columns=("salary",)),)
    assert usual_measure(unknown, Budget(1), SMALL, Unit.row(), 10**6) == 0
