"""Single columns in two rounds: what is spent, what each column gets, and what that gains."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from core.base.errors import Undeclared
from core.kernel.kernel import Kernel
from core.mechanisms.kit.portions import Noisy
from core.mechanisms.kit.spending import Spending
from core.mechanisms.tree.measuring import Measuring
from core.mechanisms.tree.singles import estimate_counts, measure_singles
from core.privacy.budget import Budget
from core.privacy.events import Cost, Gaussian, Laplace
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.schema.domain import Categories, Domain, Integers
from core.table.stand_in import StandIn

DOMAIN = Domain((Integers(name="gains", low=0, high=99), Categories(name="work", values=tuple("abcdefg"))))
SPENDING = Spending.of(Budget(0.5, 1e-9), Unit.row())


def table() -> StandIn:
    generator = np.random.default_rng(0)
    gains = np.where(generator.random(20_000) < 0.95, 0, generator.integers(0, 100, 20_000))
    return StandIn(DOMAIN, np.stack([gains, generator.integers(0, 7, 20_000)], axis=1), Unit.row())


def found(spending: Spending, events, reserved) -> Noisy:
    kernel = Kernel(table(), Noise(), Cost.of(reserved))
    return measure_singles(Measuring(kernel, spending), events, 20_000.0, lambda name: None)


def halves() -> dict:
    return {(name,): Gaussian(SPENDING.whole / 2) for name in DOMAIN.names}


def test_both_rounds_cost_what_the_events_cost_and_not_less():
    found(SPENDING, halves(), [Gaussian(SPENDING.whole)])
    with pytest.raises(Undeclared):
        found(SPENDING, halves(), [Gaussian(SPENDING.whole * Fraction(999, 1000))])


def test_a_column_that_is_nearly_empty_leaves_budget_to_one_with_frequent_values():
    by_cells = SPENDING.split({("gains",): 100 ** (2 / 3), ("work",): 7 ** (2 / 3)}, Fraction(1))
    events = {each.columns: each.event for each in by_cells}
    measured = found(SPENDING, events, [Gaussian(SPENDING.whole)]).sigmas
    once = {
        columns: found(SPENDING, {columns: events[columns]}, [events[columns]]).sigmas[columns] for columns in events
    }
    assert measured["work",] < 0.9 * once["work",]
    assert once["gains",] < measured["gains",] < 1.3 * once["gains",]


def test_laplace_noise_is_measured_once():
    spending = Spending.of(Budget(1), Unit.row())
    events = {(name,): Laplace(Fraction(1, 2)) for name in DOMAIN.names}
    sigmas = found(spending, events, list(events.values())).sigmas
    assert sigmas["gains",] == pytest.approx(np.sqrt(2) * 2)


def test_counts_that_cannot_occur_are_empty():
    noisy = Noisy({("work",): np.array([5.0, 9, -3, 8, 7, 6, 9])}, {("work",): 2.0})
    allowed = np.array([True, True, True, False, True, True, True])
    counts = estimate_counts(DOMAIN["work"], noisy, 36.0, allowed)
    assert counts[3] == 0 and counts[2] == 0 and counts.sum() == pytest.approx(36)
