from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from core.mechanisms.kit.spending import Spending
from core.privacy.budget import Budget
from core.privacy.events import Gaussian, Pure
from core.privacy.spendable import rho_for
from core.privacy.unit import Unit

UNIT = Unit.id("person", 3, "replace")


@pytest.mark.parametrize("budget", [Budget(1), Budget(1, 1e-9)])
def test_parts_add_up_exactly(budget):
    spending = Spending.of(budget, UNIT)
    parts = spending.split({("a",): 1.0, ("b",): 1e-12, ("c",): 7.3}, Fraction(1, 3))
    amounts = [part.event.epsilon if budget.pure else part.event.rho for part in parts]
    assert sum(amounts) == spending.whole / 3 and min(amounts) > 0
    foreseen = spending.sigmas(np.array([float(amounts[0] / spending.whole)]))[0]
    assert parts[0].level(UNIT).sigma == pytest.approx(foreseen)


def test_the_whole_is_the_declared_cost():
    assert Spending.of(Budget(2), UNIT).cost.events == (Pure(Fraction(2)),)
    assert Spending.of(Budget(2, 1e-9), UNIT).cost.events == (Gaussian(rho_for(Budget(2, 1e-9))),)


@pytest.mark.parametrize("budget", [Budget(1), Budget(1, 1e-9)])
def test_a_part_is_an_event_of_that_part(budget):
    spending = Spending.of(budget, UNIT)
    event = spending.event(Fraction(1, 10))
    assert (event.epsilon if budget.pure else event.rho) == spending.whole / 10
