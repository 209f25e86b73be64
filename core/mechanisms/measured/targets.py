"""What of a release is measured, from public facts alone: its classes, its columns and its pairs of columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from core.base.arrays import Columns
from core.base.wording import plural
from core.queries.kit.checks import MOST_LISTED
from core.queries.kit.focus import asked_columns
from core.queries.kit.protocol import QueryClass
from core.queries.lipschitz import Lipschitz
from core.queries.marginals import Marginals
from core.schema.domain import Domain

MOST_VALUES = 256
"""Values of a column, of which whole tables are compared; with more, most counts are below the noise anyway."""
MOST_CELLS = 2**12
"""The same for a pair of columns."""
MOST_PAIRS = 1_000
"""Pairs that are compared; each takes two passes over rows and records."""


@dataclass(frozen=True, eq=False)
class Target:
    """Answers of one class, or some tables of counts."""

    about: str
    query: QueryClass | None = None
    tables: tuple[Columns, ...] = ()
    """Whole tables that are compared; none where the answers of a class are, one by one."""

    @property
    def numbers(self) -> int:
        """How many figures are measured (`kernel/released.py`)."""
        return 3 if self.tables else 2

    @cached_property
    def covered(self) -> frozenset[frozenset[str]]:
        return frozenset(frozenset(columns) for columns in self.tables)


def targets(queries: Sequence[QueryClass], domain: Domain) -> tuple[Target, ...]:
    """What is measured of a release of these classes, the classes first; nothing where it cannot be.

    A class of whole tables is compared table by table. Statistics that are no sums over the rows are left out, because
    a row may move them and the number of rows against each other; so are classes that are too large to be listed.
    """
    focus = asked_columns(queries, domain)
    found = [_of_class(query, focus) for query in queries if _listed(query, focus)]
    small = [name for name in focus.names if 1 < focus[name].size <= MOST_VALUES]
    pairs = [pair for pair in combinations(small, 2) if focus.cells(pair) <= MOST_CELLS]
    seen = {target.covered for target in found}
    for noun, tables in (("single column", [(name,) for name in small]), ("pair", pairs)):
        target = Target(_counted(noun, len(tables)), tables=tuple(tables))
        if 0 < len(tables) <= MOST_PAIRS and target.covered not in seen:
            found.append(target)
    return tuple(found)


def _listed(query: QueryClass, domain: Domain) -> bool:
    return not isinstance(query, Lipschitz) and query.log_size(domain) <= math.log(MOST_LISTED)


def _of_class(query: QueryClass, domain: Domain) -> Target:
    tables = query.tables(domain) if isinstance(query, Marginals) else ()
    return Target(query.sentence(domain), query, tables)


def _counted(noun: str, number: int) -> str:
    return plural(number, noun) + (" of columns" if noun == "pair" else "")
