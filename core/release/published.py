"""What a release answers with: its released tables, and its records where it has no table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Codes, Columns, Floats
from core.models.points import Points
from core.models.tables import lookup
from core.queries.kit.protocol import QueryClass
from core.schema.domain import Domain

OwnAnswers = tuple[tuple[QueryClass, Floats], ...]
"""Classes that tables do not answer, each with the answers of all members in rows."""


@dataclass(frozen=True, eq=False)
class Published:
    """The counts of a finished release, over its schema or over some columns of it."""

    domain: Domain
    tables: Mapping[Columns, NDArray[np.float64]]
    points: Points
    own: OwnAnswers = ()

    @classmethod
    def of(
        cls, domain: Domain, tables: Mapping[Columns, NDArray[np.float64]], codes: Codes, own: OwnAnswers = ()
    ) -> Published:
        """Records stand together for as many rows as the released tables count."""
        counted = lookup(tables, ())
        each = 1.0 if counted is None or not len(codes) else float(counted) / len(codes)
        return cls(domain, tables, Points(domain, codes, np.full(len(codes), each)), own)

    def own_rows(self, query: QueryClass) -> Floats | None:
        """Answers of the mechanism itself to a class, in rows; None where tables or records answer."""
        return next((rows for asked, rows in self.own if asked == query), None)

    def totals_for(self, query: QueryClass) -> Floats | None:
        rows = self.own_rows(query)
        return None if rows is None else rows * query.denominator(self.domain)

    def marginal(self, columns: Sequence[str]) -> NDArray[np.float64]:
        """Estimated counts: from the smallest released table that holds the columns, otherwise from the records."""
        found = lookup(self.tables, columns)
        return self.points.marginal(columns) if found is None else found

    def focused(self, domain: Domain) -> Published:
        """The same release seen through some of its columns."""
        return Published(domain, self.tables, self.points, self.own)
