"""Table 7.1: lines that agree with one another, and 200 runs at the parameters of each."""

from __future__ import annotations

import math

import numpy as np
import pytest

from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.registry import decision_from
from core.schema.domain import Booleans, Categories, Domain
from core.table.counts import Cells
from core.table.stand_in import StandIn
from core.theory.decisions.decision_table import (
    TABLE,
    DecisionSizes,
    hidden_share,
    hidden_star_cost,
    hidden_vertex_cost,
    projects_rate,
    weighted_set_cover_ratio,
)
from tests.kernels import run

RUNS = 200
ENDS = {"columns": ("from", "to")}


def graph(weights) -> Cells:
    names = tuple(f"v{place}" for place in range(len(weights)))
    domain = Domain((Categories(name="from", values=names), Categories(name="to", values=names)))
    return Cells(domain, np.triu(weights, 1))


def mean_cost(name, epsilon, public, tables) -> float:
    """Of 200 runs, over tables in turn."""
    decision = decision_from(name, Budget(epsilon), public)
    return float(
        np.mean(
            [decision.value(run(decision, tables[at % len(tables)]), tables[at % len(tables)]) for at in range(RUNS)]
        )
    )


@pytest.mark.parametrize("problem", TABLE)
@pytest.mark.parametrize("epsilon", [0.02, 0.08, 1.0])
@pytest.mark.parametrize("size", [100, 10_000])
def test_nothing_promises_more_than_is_possible(problem, epsilon, size):
    line = TABLE[problem]
    instance = DecisionSizes(opt=10 * size if line.worth else 5, n=size, m=size, k=5, epsilon=epsilon)
    sign = -1 if line.worth else 1
    least, possible, efficient = (sign * each(instance) for each in (line.least, line.possible, line.efficient))
    assert least <= possible
    assert sign * line.without(instance) <= efficient
    assert least <= efficient


def test_figures_by_hand():
    assert TABLE["min-cut"].possible(DecisionSizes(opt=3, n=20, epsilon=2)) == pytest.approx(3 + 30 * math.log(20))
    assert TABLE["set-cover"].possible(DecisionSizes(opt=2, n=9, m=5)) == pytest.approx(2 + 2 * (math.log(10) + 1))
    assert weighted_set_cover_ratio(4, 2, 1, 1e9) == pytest.approx(14, rel=1e-6)
    assert projects_rate(1, 0, 7) == 1 / 7
    assert projects_rate(1, 1e-6, 1_000) == pytest.approx(1 / (8 * (math.e - 1) * math.log(2e6)))
    assert hidden_share(2, 10, 1, 0) == 0.2 and hidden_share(2, 10, 9, 1) == 1


@pytest.mark.slow
class TestEfficientAlgorithms:
    """Mean costs of the thesis' algorithms stay below the table, at the parameters of its theorems."""

    def test_vertex_cover(self):
        star = np.zeros((8, 8), dtype=int)
        star[0, 1:] = 1
        bound = TABLE["vertex-cover"].efficient(DecisionSizes(opt=1, n=8, epsilon=0.9))
        assert mean_cost("vertex-cover-order", 1, ENDS, [graph(star)]) <= bound

    def test_weighted_vertex_cover(self):
        """The middle of a star is cheap; leaves cost up to eight times as much."""
        star = np.zeros((8, 8), dtype=int)
        star[0, 1:] = 1
        costs = [[f"v{place}", cost] for place, cost in enumerate((1, 8, 8, 4, 4, 2, 2, 1))]
        bound = TABLE["weighted-vertex-cover"].efficient(DecisionSizes(opt=1, n=8, epsilon=0.9))
        assert mean_cost("vertex-cover-classes", 1, {**ENDS, "costs": costs}, [graph(star)]) <= bound

    def test_k_median(self):
        domain = Domain((Categories(name="home", values=tuple("abcd")),))
        apart = [[one, two, float(one != two)] for one in "abcd" for two in "abcd"]
        public = {"sites": [[each] for each in "abcd"], "columns": ["home"], "distances": apart, "k": 1}
        table = Cells(domain, np.array([1, 1, 0, 1]))
        bound = TABLE["k-median"].efficient(DecisionSizes(opt=2, n=4, k=1, epsilon=0.9))
        assert mean_cost("k-median-search", 1, public, [table]) <= bound
        assert mean_cost("k-median-exact", 1, public, [table]) <= TABLE["k-median"].possible(
            DecisionSizes(opt=2, n=4, k=1, epsilon=0.9)
        )

    def test_set_cover(self):
        domain = Domain((Categories(name="element", values=tuple(range(12))),))
        members = [["all", str(place)] for place in range(12)] + [[f"s{place // 3}", str(place)] for place in range(12)]
        table = Cells(domain, np.ones(12, dtype=int))
        public = {"members": members, "column": "element"}
        sizes = DecisionSizes(opt=1, n=12, m=5, epsilon=0.9)
        assert mean_cost("set-cover-choices", 1, public, [table]) <= TABLE["set-cover"].efficient(sizes)
        assert mean_cost("set-cover-orders", 1, public, [table]) <= TABLE["set-cover"].possible(sizes)
        costs = {**public, "costs": [["all", 3], ["s0", 2]]}
        weighed = DecisionSizes(opt=3, n=12, m=5, epsilon=0.9)
        assert mean_cost("set-cover-choices", 1, costs, [table]) <= TABLE["weighted-set-cover"].efficient(weighed)

    def test_min_cut(self):
        full = np.ones((9, 9), dtype=int)
        sizes = DecisionSizes(opt=8, n=9, epsilon=0.9)
        for name in ("min-cut", "min-cut-padded"):
            assert mean_cost(name, 1, ENDS, [graph(full)]) <= TABLE["min-cut"].efficient(sizes)

    def test_public_projects(self):
        domain = Domain(tuple(Booleans(name=f"p{place}") for place in range(6)))
        likes = np.random.default_rng(1).random((300, 6)) < np.linspace(0.1, 0.6, 6)
        table = StandIn(domain, likes.astype(np.int64), Unit.row())
        public = {"columns": domain.names, "k": 2}
        opt = decision_from("projects", Budget(1), public).best(table)
        sizes = DecisionSizes(opt=opt, n=300, m=6, k=2, epsilon=0.9, delta=0)
        assert mean_cost("projects", 1, public, [table]) >= TABLE["public-projects"].efficient(sizes)
        assert mean_cost("projects-exact", 1, public, [table]) >= TABLE["public-projects"].possible(sizes)


@pytest.mark.slow
class TestLowerBounds:
    """On the instances of the proofs no private decision does better than they say; all of ours are tried."""

    def test_a_vertex_that_lost_its_edges_stays_hidden(self):
        n, epsilon = 10, 0.1
        tables = []
        for vertex in range(n):
            weights = np.ones((n, n), dtype=int)
            weights[vertex], weights[:, vertex] = 0, 0
            tables.append(graph(weights))
        least = hidden_vertex_cost(n, n - 1, epsilon)
        assert least > 5
        for name in ("min-cut", "min-cut-padded"):
            assert mean_cost(name, epsilon, ENDS, tables) >= least

    def test_the_middle_of_a_star_stays_hidden(self):
        n, epsilon = 8, 0.1
        tables = []
        for vertex in range(n):
            weights = np.zeros((n, n), dtype=int)
            weights[vertex], weights[:, vertex] = 1, 1
            tables.append(graph(weights))
        least = hidden_star_cost(n, epsilon)
        assert least > 1.5
        for name in ("vertex-cover-order", "vertex-cover-degrees", "vertex-cover-classes"):
            assert mean_cost(name, epsilon, ENDS, tables) >= least

    def test_places_with_few_people_stay_hidden(self):
        n, k, people, epsilon = 10, 2, 3, 0.1
        names = tuple(f"p{place}" for place in range(n))
        domain = Domain((Categories(name="home", values=names),))
        apart = [[one, two, float(one != two)] for one in names for two in names]
        public = {"sites": [[each] for each in names], "columns": ["home"], "distances": apart, "k": k}
        tables = [
            Cells(domain, people * np.isin(np.arange(n), (at, (at + 1 + at % 3) % n)).astype(int)) for at in range(n)
        ]
        least = k * people * (1 - hidden_share(k, n, people, epsilon))
        assert least > 3
        for name in ("k-median-counts", "k-median-exact"):
            assert mean_cost(name, epsilon, public, tables) >= least

    def test_projects_of_few_agents_stay_hidden(self):
        m, k, people, epsilon = 10, 2, 3, 0.1
        domain = Domain(tuple(Booleans(name=f"p{place}") for place in range(m)))
        tables = []
        for at in range(m):
            likes = np.zeros((k * people, m), dtype=np.int64)
            likes[:people, at], likes[people:, (at + 1 + at % 3) % m] = 1, 1
            tables.append(StandIn(domain, likes, Unit.row()))
        most = k * people * hidden_share(k, m, people, epsilon)
        for name in ("projects", "projects-exact"):
            assert mean_cost(name, epsilon, {"columns": domain.names, "k": k}, tables) <= most
