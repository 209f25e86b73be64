"""Look only at the columns that some question is about.

A mechanism that holds one number per possible record pays for every column of the schema, also for those nobody asks
about. So the desk shows a mechanism the asked columns only; the other columns of the synthetic records are filled
uniformly, because nothing was measured about them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.models.protocol import Codes, Floats, Model
from core.privacy.unit import Unit
from core.queries.kit.protocol import Columns, QueryClass
from core.queries.lipschitz import Lipschitz
from core.schema.domain import Domain
from core.table.counts import Counts, Integers


def asked(queries: Sequence[QueryClass], domain: Domain) -> Domain:
    """The schema of the columns that the query classes look at, in its own order."""
    used: set[str] = set()
    for query in queries:
        query.check(domain)
        sets = (query.columns,) if isinstance(query, Lipschitz) else query.tables(domain)
        used.update(column for columns in sets for column in columns)
    names = [name for name in domain.names if name in used]
    # A question about all rows looks at no column; one column then stands for the records.
    return domain if len(names) == len(domain) else domain.project(names or domain.names[:1])


@dataclass(frozen=True)
class Focused:
    """The counts of a private table over some of its columns."""

    counts: Counts
    domain: Domain

    @property
    def unit(self) -> Unit:
        return self.counts.unit

    @property
    def public_rows(self) -> int | None:
        return self.counts.public_rows

    def marginal(self, columns: Sequence[str]) -> Integers:
        return self.counts.marginal(columns)

    def points(self, columns: Sequence[str]) -> tuple[Integers, Integers]:
        return self.counts.points(columns)


@dataclass(frozen=True, eq=False)
class Widened:
    """A model of some columns, with all other columns of the schema uniform and independent."""

    domain: Domain
    inner: Model

    @property
    def total(self) -> float:
        return self.inner.total

    def marginal(self, columns: Sequence[str]) -> Floats:
        known = [column for column in columns if column in self.inner.domain]
        free = [column for column in columns if column not in self.inner.domain]
        shape = [self.domain[column].size if column in known else 1 for column in columns]
        table = self.inner.marginal(known).reshape(shape) / self.domain.cells(free)
        return np.broadcast_to(table, self.domain.shape(columns)).astype(np.float64)

    def sample(self, rows: int, generator: np.random.Generator) -> Codes:
        codes = np.stack([generator.integers(0, size, rows) for size in self.domain.sizes], axis=1)
        known = [self.domain.names.index(name) for name in self.inner.domain.names]
        codes[:, known] = self.inner.sample(rows, generator)
        return codes

    def tables(self) -> dict[Columns, Floats]:
        return self.inner.tables()


def widened(domain: Domain, model: Model) -> Model:
    """The model as one of the whole schema."""
    return model if len(model.domain) == len(domain) else Widened(domain, model)
