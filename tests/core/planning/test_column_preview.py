"""The preview of a column: public, and its error bars are those that a release has."""

from __future__ import annotations

import numpy as np
import pytest

from core.mechanisms.direct.gaussian import GaussianTables
from core.mechanisms.direct.laplace import LaplaceTables
from core.planning.column_preview import preview_column
from core.privacy.budget import Budget
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.queries.marginals import Marginals
from core.schema.domain import Categories, Domain, Integers
from core.table.counts import Cells
from tests.kernels import run


def ages(bins: int) -> Integers:
    return Integers(name="age", low=0, high=99, bins=bins)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("budget", "kind"), [(Budget("0.1"), LaplaceTables), (Budget("0.1", "1e-9"), GaussianTables)])
def test_released_counts_stay_within_the_bars(budget: Budget, kind: type) -> None:
    shown = preview_column(ages(20), Unit.row(), budget, 5_000)
    assert shown.counts.sum() == shown.rows == 5_000
    domain = Domain((ages(20),))
    # So many that removing negative counts changes little; all 20 within the bars in 95 % of the runs.
    truth = Cells(domain, np.full(20, 50_000))
    within = 0
    for _ in range(40):
        model = run(kind(queries=(Marginals(order=1),), budget=budget), truth, Noise())
        within += bool(np.abs(model.marginal(("age",)) - 50_000).max() <= shown.error)
    # Fewer than 31 of 40 has a chance below 1e-4 at 95 %.
    assert within >= 31


def test_the_shape_is_one_that_bins_can_be_judged_by() -> None:
    shown = preview_column(ages(100), Unit.row(), Budget("0.2"), 10_000)
    # 1 % of the rows on average; nowhere a crowd that would leave the other bins empty.
    assert shown.counts.max() < 0.03 * shown.rows
    assert (np.diff(shown.counts[:40]) >= 0).all() and (np.diff(shown.counts[50:]) <= 0).all()
    assert preview_column(ages(20), Unit.row(), Budget("0.2"), 10_000).lost < 20 / 4
    towns = Categories(name="town", values=("a", "b", "c"), other="elsewhere", missing=True)
    counts = preview_column(towns, Unit.row(), Budget(1), 10_000).counts
    assert (np.diff(counts[:3]) < 0).all() and (counts > 100).all()


def test_more_bins_are_lost_sooner() -> None:
    few, many = (preview_column(ages(bins), Unit.row(), Budget("0.05"), 1_000) for bins in (5, 100))
    assert few.lost < many.lost
    assert preview_column(ages(5), Unit.id("person", 9), Budget("0.05"), 1_000).error > few.error
