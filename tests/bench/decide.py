"""Private decisions beside the same problem solved without privacy: `cost_ratio` is the mean of some runs over theirs.

Instances are invented here, each from a seed of its own. `excess` is how much a cut costs beyond the smallest one;
`cover90` how many sets of an order cover nine elements of ten. Recorded figures are those of the thesis' algorithms
and of plain exponential mechanisms in a study.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

from core.decisions.covers.set_cover import SetCover, greedy_sets
from core.privacy.budget import Budget
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.registry import decision_from
from core.schema.domain import Booleans, Categories, Domain, Integers
from core.table.stand_in import StandIn
from tests.bench.kit.line import Line
from tests.bench.kit.recorded import recorded
from tests.kernels import run as decide

RUNS = 20
FEW = 5
DELTA = 1e-6


def run() -> Iterator[Line]:
    yield from k_median()
    yield from k_means()
    yield from cuts()
    yield from set_covers()
    yield from vertex_covers()
    yield from projects()
    yield from sizes()


def k_median() -> Iterator[Line]:
    random = np.random.default_rng(1)
    domain = Domain((Integers(name="x", low=0, high=14), Integers(name="y", low=0, high=14)))
    sites = [(f"{x},{y}", x, y) for x in range(15) for y in range(15)]
    centres = random.uniform(1, 13, (6, 2))
    spots = centres[random.integers(0, 6, 10_000)] + random.normal(0, 1.5, (10_000, 2))
    people = StandIn(domain, np.clip(np.rint(spots), 0, 14).astype(np.int64), Unit.row())
    public = {"sites": sites, "columns": ("x", "y"), "k": 5}
    for name, runs in (("k-median-counts", RUNS), ("k-median-search", FEW)):
        for epsilon in (0.1, 1):
            yield _ratio(f"{name} eps={epsilon}", name, public, epsilon, people, runs)


def k_means() -> Iterator[Line]:
    """Smooth groups of different widths, and spiky ones that are narrower than a hundredth of the range."""
    for shape, width in (("smooth", (0.02, 0.1)), ("spiky", (0.002, 0.01))):
        for k in (5, 10):
            random = np.random.default_rng(k)
            middles, spreads = random.uniform(0.1, 0.9, (k, 2)), random.uniform(*width, k)
            owner = random.integers(0, k, 50_000)
            spots = np.clip(middles[owner] + random.normal(0, 1, (50_000, 2)) * spreads[owner][:, None], 0, 0.999)
            domain = Domain((Integers(name="x", low=0, high=255), Integers(name="y", low=0, high=255)))
            table = StandIn(domain, (spots * 256).astype(np.int64), Unit.row())
            for epsilon in (0.1, 1):
                case = f"k-means {shape} k={k} eps={epsilon}"
                yield _ratio(case, "k-means", {"columns": ("x", "y"), "k": k}, epsilon, table, FEW)


def cuts() -> Iterator[Line]:
    for shape, graph in (("barbell", nx.barbell_graph(8, 0)), ("planted", _planted(16))):
        for name in ("min-cut", "min-cut-padded"):
            for epsilon in (0.5, 1, 2):
                table = _graph(graph)
                # The plain mechanism tells a cut and no weight, so these do too.
                public = {"columns": ("from", "to"), "estimated": False}
                decision = decision_from(name, Budget(epsilon), public)
                smallest = decision.best(table)
                costs = [decision.value(decide(decision, table), table) - smallest for _ in range(RUNS)]
                case = f"{name} {shape} n=16 eps={epsilon}"
                theirs = recorded("decide", f"{shape} eps={epsilon}", "excess", "exponential mechanism")
                yield Line(
                    *("decide", case, "excess", float(np.mean(costs)), "exponential mechanism", theirs),
                    theirs_from="recorded",
                )
    for vertices in (28, 80, 100, 200):
        for shape, graph in (("barbell", nx.barbell_graph(vertices // 2, 0)), ("planted", _planted(vertices))):
            table = _graph(graph)
            decision = decision_from("min-cut", Budget(1), {"columns": ("from", "to")})
            smallest = decision.best(table)
            costs = [decision.value(decide(decision, table), table) - smallest for _ in range(FEW)]
            promised = 8 * float(np.log(vertices))
            yield Line(
                "decide", f"min-cut {shape} n={vertices} eps=1", "excess", float(np.mean(costs)), "8 ln n/eps", promised
            )


def set_covers() -> Iterator[Line]:
    random = np.random.default_rng(2)
    for elements, sets, wanted in ((1000, 50, 500), (5000, 200, 2000), (20000, 200, 15000)):
        names = tuple(f"e{place}" for place in range(elements))
        domain = Domain((Categories(name="element", values=names),))
        inside = random.random((sets, elements)) < random.uniform(0.005, 0.1, (sets, 1))
        bare = ~inside.any(axis=0)
        inside[random.integers(0, sets, int(bare.sum())), np.flatnonzero(bare)] = True
        members = [(f"s{one}", names[two]) for one, two in np.argwhere(inside)]
        rows = random.choice(elements, wanted, replace=False)[:, None]
        table = StandIn(domain, rows.astype(np.int64), Unit.row())
        public = {"members": members, "column": "element"}
        for name, budget in (("set-cover-presence", Budget(1)), ("set-cover-choices", Budget(1, DELTA))):
            decision: Any = decision_from(name, budget, public)
            found = [decide(decision, table) for _ in range(FEW)]
            case = f"{name} ({elements}, {sets}, {wanted}) eps=1"
            best = decision.best(table)
            cost = float(np.mean([decision.value(each, table) for each in found]))
            yield Line("decide", case, "cost_ratio", cost / best, "greedy", 1.0)
            greedy = _sets_for(decision, table, None)
            ours = float(np.mean([_sets_for(decision, table, each) for each in found]))
            yield Line("decide", case, "cover90", ours, "greedy", greedy)


def vertex_covers() -> Iterator[Line]:
    stars = nx.disjoint_union_all([nx.star_graph(99) for _ in range(10)])
    for shape, graph in (("BA(1000, 3)", nx.barabasi_albert_graph(1000, 3, seed=3)), ("ten stars", stars)):
        table = _graph(graph)
        for name in ("vertex-cover-order", "vertex-cover-degrees"):
            for epsilon in (0.1, 1):
                decision = decision_from(name, Budget(epsilon), {"columns": ("from", "to")})
                cost = float(np.mean([decision.value(decide(decision, table), table) for _ in range(FEW)]))
                theirs = recorded("decide", f"{shape} eps={epsilon}", "cost", "thesis")
                case = f"{name} {shape} eps={epsilon}"
                yield Line("decide", case, "cost", cost, "thesis", theirs, theirs_from="recorded")
                yield Line("decide", case, "cost_ratio", cost / decision.best(table), "greedy", 1.0)


def projects() -> Iterator[Line]:
    random = np.random.default_rng(4)
    domain = Domain(tuple(Booleans(name=f"p{place}") for place in range(50)))
    likes = (random.random((5_000, 50)) < random.uniform(0.01, 0.2, 50)).astype(np.int64)
    agents = StandIn(domain, likes, Unit.row())
    for epsilon in (0.1, 1):
        yield _ratio(f"projects k=10 eps={epsilon}", "projects", {"columns": domain.names, "k": 10}, epsilon, agents)


def sizes() -> Iterator[Line]:
    """A hundred thousand edges, elements, agents or people: CPU seconds of one decision, of every kind."""
    random, rows = np.random.default_rng(5), 100_000
    ends = {"columns": ("from", "to")}
    edges = _graph(nx.gnm_random_graph(1_000, rows, seed=5))
    few = _rows({f"{end}": tuple(f"v{place}" for place in range(400)) for end in ("from", "to")}, random, rows)
    small = _rows({f"{end}": tuple(f"v{place}" for place in range(20)) for end in ("from", "to")}, random, rows)
    grid = Domain((Integers(name="x", low=0, high=63), Integers(name="y", low=0, high=63)))
    people = StandIn(grid, random.integers(0, 64, (rows, 2)), Unit.row())
    wide = Domain(tuple(Integers(name=f"x{place}", low=0, high=99) for place in range(10)))
    points = StandIn(wide, random.integers(0, 100, (rows, 10)), Unit.row())
    votes = Domain(tuple(Booleans(name=f"p{place}") for place in range(20)))
    agents = StandIn(votes, (random.random((rows, 20)) < 0.2).astype(np.int64), Unit.row())
    wanted = _rows({"element": tuple(f"e{place}" for place in range(20_000))}, random, rows)
    members = [(f"s{place % 200}", f"e{place}") for place in range(20_000)]
    sites = {"sites": [(f"{x},{y}", x, y) for x in range(2, 64, 4) for y in range(2, 64, 4)], "columns": ("x", "y")}
    some = {"sites": sites["sites"][::9], "columns": ("x", "y")}
    sets, chosen = {"members": members, "column": "element"}, {"columns": votes.names, "k": 5}
    for name, public, table in (
        ("k-median-counts", {**sites, "k": 5}, people),
        ("k-median-search", {**some, "k": 2}, people),
        ("k-median-exact", {**some, "k": 2}, people),
        ("facility-superset", {**sites, "opening": 2_000.0}, people),
        ("k-means", {"columns": ("x", "y"), "k": 5}, people),
        ("k-means-records", {"columns": wide.names, "k": 5}, points),
        ("min-cut", ends, small),
        ("min-cut", ends, few),
        ("min-cut-padded", ends, small),
        ("vertex-cover-degrees", ends, edges),
        ("vertex-cover-order", ends, edges),
        ("vertex-cover-classes", ends, edges),
        ("vertex-cover-size", ends, few),
        ("set-cover-presence", sets, wanted),
        ("set-cover-choices", sets, wanted),
        ("projects", chosen, agents),
        ("projects-exact", {**chosen, "k": 2}, agents),
        ("learner", {"label": "p0", "columns": votes.names[1:]}, agents),
    ):
        start = time.process_time()
        decide(decision_from(name, Budget(1), public), table)
        case = f"{name}, {len(table.codes):,} rows, {table.domain[table.domain.names[0]].size:,} values"
        yield Line("decide", case, "cpu_s", time.process_time() - start)


def _rows(columns: dict[str, tuple[str, ...]], random: np.random.Generator, rows: int) -> StandIn:
    domain = Domain(tuple(Categories(name=name, values=values) for name, values in columns.items()))
    codes = np.stack([random.integers(0, len(values), rows) for values in columns.values()], axis=1)
    return StandIn(domain, codes, Unit.row())


def _ratio(case: str, name: str, public: dict[str, Any], epsilon: float, table: StandIn, runs: int = RUNS) -> Line:
    decision = decision_from(name, Budget(epsilon), public)
    costs = [decision.value(decide(decision, table, Noise()), table) for _ in range(runs)]
    return Line("decide", case, "cost_ratio", float(np.mean(costs)) / decision.best(table), "non-private", 1.0)


def _graph(graph: nx.Graph) -> StandIn:
    names = tuple(f"v{place}" for place in range(graph.number_of_nodes()))
    domain = Domain((Categories(name="from", values=names), Categories(name="to", values=names)))
    return StandIn(domain, np.array(graph.edges(), dtype=np.int64).reshape(-1, 2), Unit.row())


def _planted(vertices: int) -> nx.Graph:
    half = vertices // 2
    return nx.planted_partition_graph(2, half, 0.7, 0.1, seed=vertices)


def _sets_for(decision: SetCover, table: StandIn, decided: Any, share: float = 0.9) -> int:
    """How many of the first sets of an order cover so much of what must be covered; of greedy's order without one."""
    inside = decision.inside(table.domain)
    there = table.marginal((decision.column,)) > 0
    order = (
        greedy_sets(inside, there.astype(float), decision.cost_of()) if decided is None else decision._order(decided)
    )
    covered = np.logical_or.accumulate(inside[list(order)][:, there], axis=0).mean(axis=1)
    return int(np.argmax(covered >= share)) + 1
