import math
from fractions import Fraction

import numpy as np
import pytest

from core.base.errors import BadParameter
from core.kernel.kernel import Kernel
from core.mechanisms.kit.portions import (
    Portion,
    divide,
    expected_of,
    measure_rows,
    measure_tables,
    portions,
    price,
    wanted,
)
from core.privacy.budget import Budget
from core.privacy.events import Cost, Gaussian, Laplace
from core.privacy.noise import Noise
from core.privacy.spendable import rho_for
from core.privacy.unit import Unit
from core.queries.marginals import Marginals
from core.table.counts import Cells
from tests.accounts import part_of
from tests.core.samples import SMALL, small_counts

TWO = {("colour",): 1.0, ("colour", "size"): 1.0}


def test_tables_asked_for_twice_weigh_twice_and_are_in_schema_order():
    weights = wanted([Marginals(order=1), Marginals(sets=(("old",), ("size", "colour")), weights=(2, 5))], SMALL)
    assert weights == {("colour",): 1.0, ("size",): 1.0, ("old",): 3.0, ("colour", "size"): 5.0}


def test_portions_add_up_exactly():
    pure = portions(TWO, SMALL, Budget(Fraction(1, 3)), Laplace)
    assert sum(portion.event.epsilon for portion in pure) == Fraction(1, 3)
    assert pure[1].event.epsilon > pure[0].event.epsilon
    budget = Budget(1, 1e-9)
    assert sum(portion.event.rho for portion in portions(TWO, SMALL, budget, Gaussian)) == rho_for(budget)


def test_laplace_with_a_delta_uses_the_budget_and_not_more():
    many = {(f"c{place}",): 1.0 for place in range(50)}
    budget = Budget(1, 1e-6)
    parts = divide(many, budget, Laplace)
    assert sum(portion.event.epsilon for portion in parts) > 1.5
    assert 0.99 < part_of(budget, price(parts)) <= 1


def test_a_budget_too_small_to_measure_anything_is_refused():
    with pytest.raises(BadParameter, match="epsilon"):
        divide({("a",): 1.0}, Budget(Fraction(1, 10**9), Fraction(1, 10**9)), Laplace)


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=2)
@pytest.mark.parametrize("event", [Laplace(Fraction(1, 5)), Gaussian(Fraction(1, 50))])
@pytest.mark.parametrize("unit", [Unit.row(), Unit.row("replace"), Unit.id("p", 4)])
def test_stated_errors_are_the_measured_ones(event, unit):
    counts, portion = small_counts(unit=unit), Portion(("colour", "size"), event)
    runs, level = 1600, portion.level(unit)
    noisy = measure_tables(Kernel(counts, Noise(), Cost((event,))), [portion])
    assert noisy.sigmas == {portion.columns: level.sigma}
    kernel = Kernel(counts, Noise(), Cost((event,) * runs))
    truth = counts.marginal(portion.columns)
    errors = np.array([measure_tables(kernel, [portion]).tables[portion.columns] - truth for _ in range(runs)])
    assert math.isclose(errors.std(), level.sigma, rel_tol=0.06)
    assert math.isclose(np.abs(errors).mean(), level.mean_error, rel_tol=0.06)
    assert (np.abs(errors) > level.tail(0.05)).mean() < 0.06


def test_the_number_of_rows_is_public_or_measured_and_at_least_one():
    counts = small_counts(5_000, Unit.row("replace"))
    assert measure_rows(Kernel(counts, Noise(), Cost(())), None) == 5_000
    event = Laplace(Fraction(50))
    assert abs(measure_rows(Kernel(small_counts(5_000), Noise(), Cost((event,))), event) - 5_000) < 5
    assert measure_rows(Kernel(Cells(SMALL, np.zeros(24)), Noise(), Cost((event,))), event) == 1


def test_expected_error_speaks_of_all_cells():
    parts = portions(TWO, SMALL, Budget(1), Laplace)
    expected = expected_of(parts, SMALL, Unit.row(), "Each count")
    levels = [portion.level(Unit.row()) for portion in parts]
    means = [level.mean_error for level in levels]
    assert min(means) < expected.mean < max(means)
    assert expected.worst == max(level.tail(0.05 / 15) for level in levels)
