import numpy as np
import pytest

from core.base.errors import Refused
from core.mechanisms.direct.histogram import NoisyHistogram
from core.privacy.budget import Budget
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.queries.marginals import Marginals
from core.schema.domain import Domain, Integers
from core.table.counts import Cells
from tests.core.samples import SMALL, small_counts
from tests.kernels import run

PAIRS = (Marginals(order=2),)


@pytest.mark.parametrize("budget", [Budget(1), Budget(1, 1e-6)])
@pytest.mark.parametrize("unit", [Unit.row(), Unit.row("replace")])
def test_cells_are_near_and_never_negative(budget, unit):
    counts = small_counts(unit=unit)
    mechanism = NoisyHistogram(queries=PAIRS, budget=budget)
    model = run(mechanism, counts, Noise())
    assert (model.cells >= 0).all()
    assert np.abs(model.cells - counts.cells).mean() < 3 * mechanism.expected(SMALL, unit).mean
    if unit.public_rows:
        assert model.total == pytest.approx(5_000)
    else:
        assert abs(model.total - 5_000) < 800


def test_empty_cells_stay_mostly_empty():
    domain = Domain((Integers(name="a", low=0, high=999),))
    cells = np.zeros(1_000, dtype=np.int64)
    cells[:10] = 10_000
    errors = []
    for _ in range(5):
        model = run(NoisyHistogram(queries=(Marginals(order=1),), budget=Budget(1)), Cells(domain, cells), Noise())
        errors.append(np.abs(model.cells[10:]).mean())
    # Without the projection each of the 990 empty cells would be off by about one row.
    assert np.mean(errors) < 0.7


def test_a_universe_too_large_is_refused_by_name():
    wide = Domain(tuple(Integers(name=f"c{place}", low=0, high=99) for place in range(9)))
    with pytest.raises(Refused, match=r"about 10\^18 combinations.*'tree'"):
        NoisyHistogram(queries=PAIRS, budget=Budget(1)).check(wide, Unit.row())
