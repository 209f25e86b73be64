"""The private counts of a session: held in memory where they are small, and how long counting them takes at most.

**Privacy** How long rows are counted depends on how many there are. A slot (`pace.py`) therefore allows for it by what
is public of that number: the rows that the session was told or measured with noise when it opened.
"""

from __future__ import annotations

from core.schema.domain import Domain
from core.table.counts import Cells, Counts

MOST_AT_HAND = 2**20
"""Cells of a table of counts that a session keeps in memory, 8 MB; larger ones are counted anew for each question."""
CODE_SECONDS = 1.5e-8
"""To count one column of one row: twice the most that was measured on a busy small server, from 1 to 6 ns each."""


def in_memory(counts: Counts) -> Counts:
    """The same counts, held in memory as one table where that is small: a question is then one sum over it."""
    if not fits_in_memory(counts.domain):
        return counts
    return Cells(counts.domain, counts.marginal(counts.domain.names), counts.unit)


def fits_in_memory(domain: Domain) -> bool:
    return domain.cells() <= MOST_AT_HAND


def counting_seconds(rows: float, domain: Domain) -> float:
    """Seconds to count all columns of so many rows."""
    return CODE_SECONDS * max(0.0, rows) * len(domain)
