"""Rough running times, known before a run: from the schema and the options, never from a table.

Every constant was measured on one core of a small server, for a table of a million rows; a smaller table is faster. The
figures are for people who choose between mechanisms: right to a factor of about three, not a promise.
"""

from __future__ import annotations

from collections.abc import Iterable

from core.base.arrays import Columns
from core.schema.domain import Domain

ROWS = 1_000_000
TABLE = 0.02
"""Seconds to count one table, and to fill one column of the records."""
CELL = 0.8e-6
"""Seconds for one noisy count and what is done to it afterwards."""
QUESTION = 1.5e-4
"""Seconds for one noisy number that is asked on its own."""


def counting(tables: Iterable[Columns], domain: Domain) -> float:
    """Seconds to count these tables with noise and to fill every column of the records."""
    listed = list(tables)
    return TABLE * (len(listed) + len(domain)) + CELL * sum(domain.cells(columns) for columns in listed)
