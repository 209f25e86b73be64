"""Whether a question is one of a class, without listing what the class asks."""

from __future__ import annotations

import numpy as np

from core.kernel.query import Query
from core.queries.kit.protocol import QueryClass
from core.schema.domain import Domain
from core.table.counts import Cells

LARGEST, TABLES = 2**20, 4
"""Counts of public tables of random counts, and how many of these are asked."""


def is_member(question: Query, query: QueryClass, domain: Domain) -> bool:
    """Whether some member of a class that can be listed gives the same answer to every table.

    All are asked of a few public tables of random counts. Two questions that differ in a weight agree on one of them
    with a probability of at most 2^-20, so one of a million members agrees by chance on all with less than 2^-60.
    """
    columns = tuple(name for name in domain.names if name in question.columns)
    looked = {name for table in query.tables(domain) for name in table}
    finest = max(question.denominator, query.denominator(domain))
    if not columns or looked != set(columns) or domain.cells(columns) * finest * LARGEST >= 2**62:
        return False
    narrow, generator = domain.project(columns), np.random.default_rng()
    found = np.ones(1, dtype=bool)
    for _ in range(TABLES):
        public = Cells(narrow, generator.integers(0, LARGEST, narrow.shape()))
        wanted, rest = divmod(int(question.total(public)) * query.denominator(narrow), question.denominator)
        found = found & (query.totals(public) == wanted) & (rest == 0)
    return bool(found.any())
