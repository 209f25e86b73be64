from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from core.mechanisms.kit.spending import Purse
from core.privacy.accounting import rho_for
from core.privacy.budget import Budget
from core.privacy.events import Gaussian, Pure
from core.privacy.unit import Unit
from tests.privacy.recorder import Recorder

UNIT = Unit.id("person", 3, "replace")


@pytest.mark.parametrize("budget", [Budget(1), Budget(1, 1e-9)])
def test_parts_add_up_exactly(budget):
    purse = Purse.of(budget, UNIT)
    parts = purse.split({("a",): 1.0, ("b",): 1e-12, ("c",): 7.3}, Fraction(1, 3))
    amounts = [part.event.epsilon if budget.pure else part.event.rho for part in parts]
    assert sum(amounts) == purse.whole / 3 and min(amounts) > 0
    assert parts[0].sigma(UNIT) == pytest.approx(purse.sigmas(np.array([float(amounts[0] / purse.whole)]))[0])


def test_the_whole_is_the_declared_cost():
    assert Purse.of(Budget(2), UNIT).cost.events == (Pure(Fraction(2)),)
    assert Purse.of(Budget(2, 1e-9), UNIT).cost.events == (Gaussian(rho_for(Budget(2, 1e-9))),)


@pytest.mark.parametrize(("budget", "count", "scores"), [(Budget(1), 3, 5 * 6), (Budget(1, 1e-9), 9, 5 * 36)])
def test_sensitivities_of_counts_and_distances(budget, count, scores):
    purse, recorder = Purse.of(budget, UNIT), Recorder(0)
    purse.total(recorder, 100, Fraction(1, 10))
    purse.scores(recorder, np.arange(5), Fraction(1, 10))
    assert [call.sensitivity for call in recorder.calls] == [count, scores]


@pytest.mark.parametrize("budget", [Budget(1), Budget(1, 1e-9)])
def test_stated_noise_is_the_noise(budget):
    purse, recorder = Purse.of(budget, Unit.row()), Recorder(0)
    noisy, sigma = purse.scores(recorder, np.zeros(4_000, dtype=np.int64), Fraction(1, 2))
    assert noisy.std() == pytest.approx(sigma, rel=0.1)
