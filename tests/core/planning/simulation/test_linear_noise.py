"""Which errors a variance could tell: answers that are linear in the noise have exact figures, releases have trials."""

from __future__ import annotations

import numpy as np
import pytest

from core.base.errors import DeskError
from core.kernel.kernel import Kernel
from core.mechanisms.kit.protocol import Mechanism
from core.mechanisms.online.online_laplace import OnlineLaplace
from core.planning.simulation.simulated_noise import SimulatedNoise
from core.privacy.budget import Budget
from core.privacy.events import Selection
from core.privacy.unit import Unit
from core.queries.intervals import Intervals
from core.queries.marginals import Marginals
from core.queries.rectangles import Rectangles
from core.registry import mechanism_from, offline
from core.schema.domain import Domain, Integers
from core.table.stand_in import StandIn

DOMAIN = Domain((Integers(name="a", low=0, high=7), Integers(name="b", low=0, high=7)))
ONE_ROW = StandIn(DOMAIN, np.array([[3, 4]]), Unit.row())
MANY_ROWS = StandIn(DOMAIN, np.repeat([[3, 4], [0, 0]], 5_000, axis=0), Unit.row())
RUNS = 60
CLASSES = (Marginals(order=2), Intervals(column="a"), Rectangles(columns=("a", "b")))


def first_that_serves(name: str, budget: Budget) -> Mechanism:
    for query in CLASSES:
        made = mechanism_from(name, (query,), budget, {})
        try:
            made.check(DOMAIN, Unit.row())
        except DeskError:
            continue
        return made
    raise AssertionError(f"{name} serves none of the classes")


@pytest.mark.parametrize("name", [name for name in offline if "halfspace" not in name])
def test_no_release_is_linear_in_its_noise(name: str) -> None:
    """Half of the empty counts of an almost empty table would be below 0: they are cut off there, or what is measured
    was chosen by the counts. A mechanism that fails here needs no trials: its variance tells its errors."""
    made = first_that_serves(name, Budget(0.1, 1e-9))
    if any(isinstance(event, Selection) for event in made.cost(DOMAIN, Unit.row()).events):
        return
    for seed in range(3):
        noise = SimulatedNoise(np.random.default_rng(seed))
        model = made.run(Kernel(ONE_ROW, noise, made.cost(DOMAIN, Unit.row())))
        assert float(np.min(made.queries[0].totals(model))) >= -1e-6


@pytest.mark.parametrize("budget", [Budget(1), Budget(1, 1e-9)])
def test_the_figure_of_fresh_noise_is_exact(budget: Budget) -> None:
    """Answers of a session that measures each are the truth and noise of a known law, cut off at 0 and at the number
    of rows, which only makes them better: nothing is simulated."""
    session = OnlineLaplace(budget=budget, questions=20)
    told, cost = session.expected(DOMAIN, Unit.row()), session.cost(DOMAIN, Unit.row())
    asked = Marginals(order=1).member(DOMAIN, 3)
    errors = []
    for seed in range(RUNS):
        kernel = Kernel(MANY_ROWS, SimulatedNoise(np.random.default_rng(seed)), cost)
        state = session.open(kernel)
        for _ in range(20):
            state, reply = session.answer(state, asked, kernel)
            errors.append(abs(reply.count - asked.total(MANY_ROWS)))
    runs = np.reshape(errors, (RUNS, 20))
    assert told.mean == pytest.approx(runs.mean(), rel=0.1)
    assert np.mean(runs.max(axis=1) > told.worst) <= 0.13
    assert told.worst <= 1.5 * np.quantile(runs.max(axis=1), 0.95)
