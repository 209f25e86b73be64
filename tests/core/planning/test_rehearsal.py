import numpy as np

from core.mechanisms.direct.laplace import LaplaceTables
from core.planning.rehearsal import rehearse
from core.privacy.budget import Budget
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.queries.marginals import Marginals
from core.table.stand_in import StandIn
from tests.core.samples import SMALL


def stand(rows=3_000):
    return StandIn.uniform(SMALL, Unit.row(), rows, np.random.default_rng(0))


def test_more_budget_gives_smaller_errors_on_the_same_rows():
    queries = (Marginals(columns=("colour", "size")),)
    small, large = (
        rehearse(LaplaceTables(queries=queries, budget=Budget(epsilon)), stand(), Noise()) for epsilon in (0.01, 10)
    )
    assert small.scores[0].mean > 10 * large.scores[0].mean
    assert small.rows == 3_000
    assert large.seconds > 0


def test_columns_that_nobody_asks_about_do_not_disturb():
    found = rehearse(
        LaplaceTables(queries=(Marginals(order=1, columns=("old",)),), budget=Budget(100)), stand(), Noise()
    )
    assert found.scores[0].errors.size == 2
    assert found.scores[0].largest < 0.01
