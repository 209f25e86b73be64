"""Bounds of measured errors hold as often as they say, cost what they say, and tell something."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from core.base.errors import BadParameter
from core.kernel.kernel import Kernel
from core.kernel.noise_level import NoiseLevel
from core.kernel.released import STEPS, few_numbers
from core.mechanisms.measured.measured import Measured
from core.mechanisms.measured.measuring import CountedRows, ErrorMeasuring, table_in_steps
from core.mechanisms.measured.targets import MOST_VALUES
from core.privacy.events import Gaussian
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.queries.intervals import Intervals
from core.queries.lipschitz import Lipschitz
from core.queries.marginals import Marginals
from core.release.published import Published
from core.schema.domain import Domain, Integers
from core.table.counts import Cells
from tests.core.samples import SMALL, small_cells, small_counts

QUERIES = (Marginals(order=2), Intervals(column="size"))
UNITS = (Unit.row(), Unit.row("replace"), Unit.id("who", 3), Unit.id("who", 3, "replace"))
LAPLACE = ErrorMeasuring(queries=QUERIES, amount=Fraction(1, 10), pure=True)
GAUSSIAN = ErrorMeasuring(queries=QUERIES, amount=Fraction(1, 100), pure=False)


FAR = 15
"""Errors beside which the noise of LAPLACE and GAUSSIAN is small on 4,000 rows: no figure comes below 0."""


def released(rows: int, seed: int, nearness: int = 300) -> Published:
    """A public table that is a little wrong about SMALL."""
    generator = np.random.default_rng(seed)
    cells = np.maximum(small_cells(rows) + generator.normal(0, rows / nearness, SMALL.shape()), 0)
    return Published.of(SMALL, {SMALL.names: cells}, np.zeros((1, 3), dtype=np.int64))


def measured(measuring: ErrorMeasuring, counts: Cells, published: Published) -> Measured:
    kernel = Kernel(counts, Noise(), measuring.cost(SMALL, counts.unit))
    return measuring.run(kernel, published, Fraction(1, 50))


def true_errors(counts: Cells, published: Published) -> list[tuple[float, float, float]]:
    """Of each thing that is measured: largest error, mean error and largest error of a cell, as shares."""
    found = []
    for target in LAPLACE.targets(SMALL):
        if target.tables:
            rows, whole = counts.cells.sum(), published.marginal(()).sum()
            errors = [np.abs(counts.marginal(t) / rows - published.marginal(t) / whole) for t in target.tables]
            halves = [table.sum() / 2 for table in errors]
            found.append((max(halves), float(np.mean(halves)), max(table.max() for table in errors)))
        else:
            errors = np.abs(target.query.answers(counts) - target.query.answers(published))
            found.append((errors.max(), errors.mean(), 0.0))
    return found


def misses(measuring: ErrorMeasuring, unit: Unit, rows: int, runs: int, nearness: int = 300) -> Counter:
    """How often each kind of bound fails."""
    counts, missed = small_counts(rows, unit), Counter()
    for run in range(runs):
        published = released(rows, run, nearness)
        figures = measured(measuring, counts, published)
        for place, (part, (largest, mean, cell)) in enumerate(
            zip(figures.parts, true_errors(counts, published), strict=True)
        ):
            missed[place, "within"] += largest > part.within
            missed[place, "mean"] += not part.mean_low <= mean <= part.mean_high
            missed[place, "cell"] += part.count_within is not None and cell > part.count_within
            assert part.mean_low <= part.mean <= part.mean_high <= 1
    return missed


def too_many(missed: Counter, runs: int) -> bool:
    """Whether some kind fails more often than 5 % can explain, at a level of one in ten thousand for all together."""
    return max(missed.values()) > stats.binom.ppf(1 - 1e-4 / len(missed), runs, 0.05)


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=3)
@pytest.mark.parametrize("rows", [60, 4_000])
@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("measuring", [LAPLACE, GAUSSIAN], ids=["laplace", "gaussian"])
def test_bounds_hold_at_least_95_percent_of_the_time(measuring, unit, rows):
    assert not too_many(misses(measuring, unit, rows, 200), 200)


@pytest.mark.slow
@pytest.mark.parametrize("measuring", [LAPLACE, GAUSSIAN], ids=["laplace", "gaussian"])
def test_bounds_hold_in_many_runs(measuring):
    assert not too_many(misses(measuring, Unit.row(), 4_000, 3_000), 3_000)
    # Where neither the noise hides the errors nor the number of rows has to be measured, nothing is given away.
    missed = misses(measuring, Unit.row("replace"), 4_000, 3_000, FAR)
    assert not too_many(missed, 3_000)
    assert max(missed.values()) > 0.02 * 3_000, "a bound that never fails says less than it could"


@pytest.mark.exhaustive
def test_the_check_can_tell(monkeypatch):
    """Bounds for a third of the noise fail."""
    tail = NoiseLevel.tail
    monkeypatch.setattr(NoiseLevel, "tail", lambda self, probability: tail(self, probability) / 3)
    assert too_many(misses(LAPLACE, Unit.row("replace"), 4_000, 100, FAR), 100)


def test_a_public_number_of_rows_costs_nothing():
    unit = Unit.row("replace")
    assert len(LAPLACE.cost(SMALL, unit).events) == len(LAPLACE.cost(SMALL, Unit.row()).events) - 1
    figures = measured(LAPLACE, small_counts(4_000, unit), released(4_000, 0))
    assert figures.rows == figures.rows_low == figures.rows_high == 4_000


def test_the_cost_is_the_amount():
    for unit in UNITS:
        assert sum(event.epsilon for event in LAPLACE.cost(SMALL, unit).events) == LAPLACE.amount
        assert sum(event.rho for event in GAUSSIAN.cost(SMALL, unit).events) == GAUSSIAN.amount


@pytest.mark.parametrize("public", [True, False])
def test_no_upper_end_is_below_the_noise(public):
    """However far noise has taken a figure below 0: 'all counts within 0.001 %' could never have been seen."""
    level = NoiseLevel(Gaussian(Fraction(1, 100)), few_numbers(2, UNITS[0]))
    rows = CountedRows(about=4_000, low=4_000 if public else 3_900, high=4_000, miss=0.05 if public else 0.04)
    least = rows.errors("counts", 10, 0, 0, level, 0.0)
    assert least.within > 0 and least.mean_high > 0
    for steps in (-1, -(10**6), -(10**12)):
        found = rows.errors("counts", 10, steps, steps, level, 0.0)
        assert (found.within, found.mean, found.mean_low, found.mean_high) == (least.within, 0, 0, least.mean_high)
    assert rows.errors("counts", 10, 1, 1, level, 0.0).within > least.within


@pytest.mark.exhaustive
def test_noise_is_told_beforehand():
    """One measured figure is off by no more than was told, nearly always."""
    told = LAPLACE.noise(SMALL, Unit.row()) / 4_000
    counts, published = small_counts(4_000), released(4_000, 0)
    true = true_errors(counts, published)[0][1]
    off = [abs(measured(LAPLACE, counts, published).parts[0].mean - true) for _ in range(100)]
    assert 0.2 * told < np.quantile(off, 0.9) <= 1.3 * told


def test_shares_that_sum_to_more_than_the_whole_are_brought_down():
    for shares in (np.array([0.7, 0.4]), np.full(1000, 0.001), np.array([1.0, 1e-12]), np.zeros(2)):
        assert table_in_steps(shares).sum() <= STEPS


def test_an_empty_table_is_bounded_by_everything():
    counts = Cells(SMALL, np.zeros(SMALL.shape(), dtype=int))
    figures = measured(ErrorMeasuring(queries=QUERIES, amount=Fraction(10), pure=True), counts, released(4_000, 0))
    assert figures.parts[0].within == 1.0


def test_nothing_to_measure_is_refused():
    with pytest.raises(BadParameter, match="measure"):
        ErrorMeasuring(queries=QUERIES, amount=Fraction(1, 10**15), pure=True).check(SMALL, Unit.row())
    wide = Domain((Integers(name="x", low=0, high=MOST_VALUES),))
    with pytest.raises(BadParameter, match="classes"):
        ErrorMeasuring(queries=(Lipschitz(columns=("x",)),), amount=Fraction(1), pure=True).check(wide, Unit.row())
