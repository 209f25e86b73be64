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
from core.schema.domain import Domain, Integers
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


def test_more_bins_are_lost_sooner() -> None:
    few, many = (preview_column(ages(bins), Unit.row(), Budget("0.05"), 1_000) for bins in (5, 100))
    assert few.lost < many.lost
    assert preview_column(ages(5), Unit.id("person", 9), Budget("0.05"), 1_000).error > few.error
