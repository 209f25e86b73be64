"""One or more examples of every kind of question of the kernel, on a schema of two yes/no columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.kernel import (
    asked,
    compared,
    disjoint,
    halfspaces,
    interactions,
    query,
    raw,
    released,
    scores,
    tables,
)
from core.kernel.databases import mixture_errors
from core.kernel.decisions import best_rules, covers, cuts, rules, values, weighed
from core.kernel.remembered import Remembered
from core.kernel.searches import uneven
from core.privacy.unit import Unit
from core.queries.conjunctions import Conjunctions
from core.queries.linear import Linear
from core.queries.lipschitz import Lipschitz
from core.queries.marginals import Marginals
from core.schema.domain import Domain, Integers
from core.table.counts import Cells
from core.table.raw_columns import RawColumn, RawColumns

DOMAIN = Domain((Integers(name="a", low=0, high=1), Integers(name="b", low=0, high=1)))
BOTH = ("a", "b")
EVEN = query.Query(columns=BOTH, weights=np.array([[4, 1], [0, 2]]), denominator=4)
GROUPS = disjoint.DisjointQueries(
    tuple(
        query.Query(columns=BOTH, weights=np.array(each), denominator=4)
        for each in ([[4, 1], [0, 0]], [[0, 0], [0, 3]])
    )
)
CLASSES = (Marginals(order=1), Conjunctions(order=2, columns=BOTH))
SPACE = halfspaces.Space(BOTH, tuple(np.array([-halfspaces.SCALE, halfspaces.SCALE]) for _ in BOTH), lifted=True)
FLAT = halfspaces.Space(BOTH, SPACE.scales, lifted=False)
SOME = halfspaces.Space(BOTH, (SPACE.scales[0], np.array([halfspaces.SCALE])), lifted=False)
"""Rows with b = 1 lack a coordinate."""
NORMALS = np.array([[3, 1, 0], [-2, 5, 1], [0, -1, 1]])
SORTED = np.array([[4, 1], [1, 3], [-2, 3]])
MEMBERS = np.array([0.0, 1.5, 4.0])
SHARES = (
    (Marginals(order=1, columns=("a",)), np.array([0, released.STEPS])),
    (Conjunctions(order=2, columns=BOTH), np.array([2**28, 3, 2**27 - 1, 2**26])),
    (Linear(columns=("a",), weights=((1, 2**30 - 1), (2**19, 3)), whole=2**30), np.array([2**27 + 1, 77])),
)
"""Released shares of the answers of a class."""
EDGES = cuts.Edges(BOTH, 2)
VALUED = values.Valued(BOTH, (2, 2))
RULES = rules.Mistakes(Marginals(order=1, columns=("a",)), "b", (0, 1), 1)
STATISTICS = Lipschitz(columns=BOTH, statistics=(("largest",), ("top", 2), ("difference", (0,), (1, 2))))


def _answers() -> Any:
    """Totals of some databases of two rows; only their bounds matter for the sensitivity."""
    width = sum(np.size(each.totals(Cells(DOMAIN, np.zeros(4, dtype=int)))) for each in CLASSES)
    yield 0, np.arange(3 * width).reshape(3, width) % 3


KINDS: tuple[asked.Sealed, ...] = (
    tables.TOTAL,
    tables.Marginal(("a",)),
    tables.Marginal(BOTH),
    tables.Blocks(BOTH, (np.array([0]), np.array([0, 1]))),
    tables.Interval("b", 0, 1),
    tables.Boxes(BOTH, np.array([[0, 0], [1, 0]]), np.array([[1, 2], [2, 1]])),
    uneven.Unevenness(("a",), (np.array([0, 1]),), (np.array([0]),), np.array([3])),
    uneven.Unevenness(("b",), (np.array([0, 1]),), (np.array([0, 1]),), np.array([1, 2])),
    uneven.Unevenness(BOTH, (np.array([0, 1]),) * 2, (np.array([0]),) * 2, np.array([[2]])),
    uneven.Unevenness(BOTH, (np.array([0, 1]),) * 2, (np.array([0]), np.array([0, 1])), np.array([[2, 3]])),
    *(interactions.Interaction(BOTH, (2, 2), centred) for centred in (True, False)),
    interactions.Interaction(("b",), (2,), True),
    tables.Distances((("a",), BOTH), (np.array([2, 1]), np.array([[1, 0], [0, 3]]))),
    EVEN,
    GROUPS,
    *(query.Statistic(STATISTICS, place, STATISTICS.denominator(DOMAIN)) for place in range(3)),
    halfspaces.Inside(SPACE, NORMALS),
    halfspaces.Balances(SPACE, NORMALS),
    halfspaces.Balances(FLAT, np.array([[3, 1], [1, 3], [2, 2]])),
    halfspaces.Balances(SOME, NORMALS[:, :2]),
    halfspaces.Wedges(FLAT, SORTED[None]),
    halfspaces.Wedges(SPACE, NORMALS[None]),
    halfspaces.Wedges(SPACE, NORMALS[:, None]),
    *(halfspaces.Moments(FLAT, constant, cross) for constant in (1, 2) for cross in (True, False)),
    halfspaces.Moments(SOME, 1, True),
    *(released.AnswerErrors(each, shares) for each, shares in SHARES),
    released.ShareDistances((("b",),), (np.array([0, released.STEPS]),)),
    released.ShareDistances((("a",), BOTH), (np.array([7, 2**27]), np.array([[2**20, 0], [2**27, 2**26 - 5]]))),
    raw.Buckets("a", (0.0, 1.0), dates=False),
    raw.NextBytes("a", (b"",)),
    raw.NextBytes("a", (b"0", b"1")),
    compared.Gap(EVEN, 3 * compared.GRID),
    compared.Gap(EVEN, 3 * compared.GRID, 1),
    disjoint.LargestGap(GROUPS, np.array([2, 1]) * compared.GRID),
    compared.Loss(EVEN, MEMBERS, 2 * compared.GRID),
    scores.Errors(CLASSES, DOMAIN, np.zeros(8, dtype=np.int64)),
    scores.SignedErrors(CLASSES, DOMAIN, np.zeros(8, dtype=np.int64)),
    scores.TableErrors((("a",), BOTH), (np.array([2, 1]), np.array([[1, 0], [0, 3]])), (1, 3), (0, 2)),
    scores.PrefixErrors("a", np.array([0, 1, 2]), np.array([0, 2, 3])),
    scores.PrefixErrors("a", np.array([0, 1, 2]), np.array([0, 2, 3]), opposite=True),
    weighed.Weighed(BOTH, np.array([[0, 3, 1, 2], [3, 0, 0, 1]]), np.array([5, -2])),
    weighed.Weighed(BOTH, -np.array([[0, 3, 1, 2], [3, 0, 0, 1]]), np.array([0, 0]), present=True),
    cuts.AllCuts(EDGES),
    cuts.SomeCuts(EDGES, np.array([[False, True], [False, False]])),
    cuts.PairWeights(EDGES),
    cuts.CutWeight(EDGES, np.array([True, False])),
    cuts.PaddedCuts(EDGES, 2),
    cuts.PaddedSides(EDGES, 1),
    values.Gains(VALUED, ()),
    values.Gains(VALUED, (0,)),
    values.Welfare(VALUED, (0, 1)),
    values.SetWelfare(VALUED, ((0,), (0, 1))),
    RULES,
    rules.RuleMistakes(RULES, 1),
    covers.Presence(BOTH),
    covers.Degrees(EDGES),
    covers.Matching(EDGES),
    covers.CoverCost(BOTH, np.array([[-1, 0], [1, 1]]), np.array([2, 3])),
    covers.RuleCosts(BOTH, np.array([[-1, 0, 1, 1], [0, 0, 0, 1]]), np.array([2, 3])),
    best_rules.BestRules(
        *(BOTH, np.array([[-1, 0, 1, 1], [0, 0, 0, 1], [1, 1, -1, 0]]), np.array([2, 3, 9])),
        *(np.array([7, -3, 0]), np.array([0, 1, 0])),
    ),
    mixture_errors.MixtureErrors(CLASSES, DOMAIN, np.arange(24).reshape(3, 8) % 4, np.array([2, 0, 5])),
    mixture_errors.MixtureErrors((STATISTICS,), DOMAIN, np.array([[0, 2, 1], [4, 1, 0]]), np.array([1, 3])),
    *(scores.DatabaseErrors(CLASSES, DOMAIN, 2, 3, _answers, told) for told in (None, 5)),
)


def counts_of(kind: asked.Sealed, table: tuple[int, ...], unit: Unit) -> Any:
    """A table of four cells, as this kind of question reads it."""
    cells = np.array(table)
    if type(kind).__module__ == raw.__name__:
        texts = [str(code) for code in range(2)]
        rows = cells.reshape(2, 2).sum(axis=1)
        return RawColumns({"a": RawColumn(texts, rows, 0)}, unit)
    return Remembered(Cells(DOMAIN, cells, unit))


def every_kind() -> list[type]:
    """All kinds that the kernel knows."""
    found: set[type] = set()
    queue: list[type] = [asked.Asked, asked.AskedScores, asked.AskedEnds, asked.Compared]
    while queue:
        kinds = queue.pop().__subclasses__()
        found |= set(kinds)
        queue += kinds
    return sorted(found - {asked.AskedTogether}, key=lambda kind: kind.__name__)
