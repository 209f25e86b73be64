"""Look only at the columns that some question is about.

A mechanism that holds one number per possible record pays for every column of the schema, also for those nobody asks
about. So the desk shows a mechanism the asked columns only; the other columns of the synthetic records are filled
uniformly (`models/widened.py`), because nothing was measured about them.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.base.arrays import Columns
from core.queries.kit.protocol import QueryClass
from core.queries.lipschitz import Lipschitz
from core.schema.domain import Domain


def asked_tables(query: QueryClass, domain: Domain) -> tuple[Columns, ...]:
    """The tables that a class looks at; one that is not linear looks at the table of its columns."""
    return (query.columns,) if isinstance(query, Lipschitz) else query.tables(domain)


def asked_columns(queries: Sequence[QueryClass], domain: Domain) -> Domain:
    """The schema of the columns that the query classes look at, in its own order."""
    used: set[str] = set()
    for query in queries:
        query.check(domain)
        used.update(column for columns in asked_tables(query, domain) for column in columns)
    names = [name for name in domain.names if name in used]
    # A question about all rows looks at no column; one column then stands for the records.
    return domain if len(names) == len(domain) else domain.project(names or domain.names[:1])
