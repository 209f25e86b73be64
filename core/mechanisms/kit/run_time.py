"""Rough running times, known before a run: from the schema and the options, never from a table.

Every constant was measured on one core of a small server, for a table of a million rows; a smaller table is faster. The
figures are for people who choose between mechanisms: right to a factor of about three, not a promise.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from core.base.arrays import Columns
from core.queries.halfspaces import Halfspaces
from core.queries.kit.protocol import QueryClass
from core.schema.domain import Domain

ROWS = 1_000_000
TABLE = 0.02
"""Seconds to count one table, and to fill one column of the records."""
CELL = 0.8e-6
"""Seconds for one noisy count and what is done to it afterwards."""
QUESTION = 1.5e-4
"""Seconds for one noisy number that is asked on its own."""
TABLED, SUMMED, ANSWERED = 5e-5, 1e-9, 1e-7
"""Seconds for one table, for a cell of the universe that is summed into it, and for one answer that is compared."""
PLACED, SIDED = 1e-7, 2e-9
"""Seconds to place one point in its space, and to tell on which side of one plane it lies."""
MOST_LOG_ANSWERS = 16.0
"""Classes with more members than this logarithm are searched, not listed."""


def counting(tables: Iterable[Columns], domain: Domain) -> float:
    """Seconds to count these tables with noise and to fill every column of the records."""
    listed = list(tables)
    return TABLE * (len(listed) + len(domain)) + CELL * sum(domain.cells(columns) for columns in listed)


def scoring(queries: Iterable[QueryClass], domain: Domain) -> float:
    """Seconds to answer every question of some classes once, from a table of all combinations."""
    return sum(_scored(query, domain) for query in queries)


def _scored(query: QueryClass, domain: Domain) -> float:
    tables = query.tables(domain)
    if isinstance(query, Halfspaces):
        return domain.cells(tables[0]) * (PLACED + SIDED * query.directions)
    answered = math.exp(min(query.log_size(domain), MOST_LOG_ANSWERS))
    return len(tables) * (TABLED + SUMMED * domain.cells()) + ANSWERED * answered
