"""Graphs whose edges are the rows of a private table, between public vertices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core.base import limits
from core.base.arrays import IntArray
from core.base.errors import BadParameter, Refused, printable
from core.base.options import option
from core.base.wording import amount
from core.kernel.decisions.cuts import MOST_WEIGHT, Edges
from core.schema.attributes import Categories
from core.schema.domain import Domain
from core.schema.ordered import Integers
from core.table.counts import Counts

MOST_VERTICES = 2_000
"""Tables of pairs of vertices stay below four million counts."""


@dataclass(frozen=True, kw_only=True)
class Graph:
    """Two columns of the table whose values are the vertices."""

    repeated: ClassVar[str] = "which count once"
    """What becomes of a row whose edge is there already."""

    columns: tuple[str, ...] = option(
        "columns",
        "Columns of the two ends of an edge",
        low=2,
        high=2,
        only="categories",
        help="Two columns of categories with the same values in the same order: the vertices. Each row is an edge.",
    )

    def edges(self, domain: Domain) -> Edges:
        return Edges(self.columns, len(self.vertices(domain)))

    def vertices(self, domain: Domain) -> tuple[str, ...]:
        """Refuses columns that do not name the same vertices."""
        one, two = (domain[name] for name in limits.names(self.columns, "columns", 2, 2))
        for each in (one, two):
            if not isinstance(each, Categories):
                raise BadParameter("columns", f"'{printable(each.name)}' has no list of values to be the vertices.")
        names = [tuple(each.label(code) for code in range(each.regular)) for each in (one, two)]
        if names[0] != names[1]:
            raise BadParameter("columns", "must have the same values in the same order: the vertices.")
        if not 2 <= len(names[0]) <= MOST_VERTICES:
            raise Refused(f"There are {amount(len(names[0]))} vertices; from 2 to {amount(MOST_VERTICES)} can be used.")
        return names[0]

    def misfits(self, counts: Counts) -> dict[str, int]:
        """Rows that are no edge, and edges that are there already; exact."""
        table, vertices = counts.marginal(self.columns), len(self.vertices(counts.domain))
        named = np.asarray(table[:vertices, :vertices])
        pairs = np.triu(named + named.T, 1)
        return {
            "without a vertex at both ends, which are left out": int(table.sum() - named.sum()),
            "from a vertex to itself, which are left out": int(np.trace(named)),
            f"that repeat an edge, {self.repeated}": int((pairs - np.minimum(pairs, 1)).sum()),
        }


def weighted(edges: Edges, column: str | None, domain: Domain) -> Edges:
    """The same edges with whole weights from a column."""
    if column is None:
        return edges
    attribute = domain[column]
    if not isinstance(attribute, Integers) or attribute.regular != attribute.high - attribute.low + 1:
        raise BadParameter("weight", "must be a column of whole numbers, one cell each.")
    if not 0 <= attribute.low <= attribute.high <= MOST_WEIGHT or attribute.high < 1:
        raise BadParameter("weight", f"must be a column of whole numbers from 0 to at most {amount(MOST_WEIGHT)}.")
    return Edges(edges.columns, edges.vertices, column, attribute.low, attribute.high)


def ends_first(order: tuple[int, ...], shape: tuple[int, ...], vertices: int) -> IntArray:
    """For every pair of codes the end that comes first in an order; -1 where there is no edge to cover."""
    rank = np.empty(vertices, dtype=np.int64)
    rank[list(order)] = np.arange(vertices)
    first = np.where(rank[:, None] < rank[None, :], np.arange(vertices)[:, None], np.arange(vertices)[None, :])
    np.fill_diagonal(first, -1)
    found = np.full(shape, -1, dtype=np.int64)
    found[:vertices, :vertices] = first
    return found
