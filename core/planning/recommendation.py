"""Which mechanism to try first, from public facts alone: the classes, the schema, the budget and expected errors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from core.mechanisms.kit.protocol import Expected
from core.models.histogram import MOST_CELLS
from core.privacy.budget import Budget
from core.queries.kit.focus import asked_tables
from core.queries.kit.protocol import QueryClass
from core.registry import offline
from core.schema.domain import Domain

SMALL_GRID = 2**12
"""Cells up to which rectangles are answered as well by noise on their table as by a tree."""
ABOUT_EQUAL = 1.1
DIRECT = frozenset({"laplace", "gaussian"})


def recommend(asked: Sequence[QueryClass], domain: Domain, budget: Budget, found: Mapping[str, Expected]) -> list[str]:
    """The mechanisms to try first, out of those that can serve these classes; `domain` has the asked columns.

    Trees of counts for ranges and rectangles, a fit for halfspaces, the tree of cliques for whole tables of a large
    schema and for several classes over it, noise on the tables for the rest. A histogram of all combinations takes its
    place where it is as exact: a count of a table is the sum of many of its counts, whose errors add up like a random
    walk.
    """
    classes = {query.name for query in asked}
    direct = min(DIRECT & found.keys(), key=lambda name: found[name].mean, default="laplace")
    first = [direct]
    if classes <= {"intervals", "unions"}:
        first = ["interval-tree", direct]
    elif classes <= {"rectangles", "intervals", "unions"} and domain.cells() > SMALL_GRID:
        first = ["rectangle-tree", direct]
    elif classes <= {"halfspaces"}:
        first = ["halfspace-fit", direct]
    elif domain.cells() > MOST_CELLS:
        first = ["tree", direct]
    elif {"histogram", direct} <= found.keys():
        tables = [columns for query in asked for columns in asked_tables(query, domain)]
        summed = sum(math.sqrt(domain.cells() / domain.cells(columns)) for columns in tables) / len(tables)
        if summed * found["histogram"].mean <= ABOUT_EQUAL * found[direct].mean:
            first = ["histogram", direct]
    return [name for name in first if name in found]


def ranked(asked: Sequence[QueryClass], domain: Domain, budget: Budget, found: Mapping[str, Expected]) -> list[str]:
    """All mechanisms that can serve these classes: the recommended ones, then the others as the registry lists them."""
    first = recommend(asked, domain, budget, found)
    return [name for name in dict.fromkeys((*first, *offline)) if name in found]
