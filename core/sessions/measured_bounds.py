"""How far an answer of a measured release is off: by the figures that its certificate has, or not known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.kernel.query import Query
from core.mechanisms.measured.measured import Measured, MeasuredErrors
from core.mechanisms.measured.targets import Target, targets
from core.plans.release_terms import ReleaseTerms
from core.queries.kit.membership import is_member
from core.release.release import Release
from core.schema.domain import Domain


@dataclass(frozen=True, eq=False)
class MeasuredBounds:
    """The figures of one release beside what each was measured of.

    Which figure bounds a question follows from the question alone. Of several figures the smallest would not do: each
    holds 95 % of the time, the smallest of them need not.
    """

    release: Release
    domain: Domain
    """The columns that the release was asked about."""
    measured: Measured
    figures: tuple[tuple[Target, MeasuredErrors], ...]

    @classmethod
    def of(cls, release: Release, terms: ReleaseTerms, domain: Domain) -> MeasuredBounds | None:
        measured = release.measured
        if measured is None:
            return None
        return cls(release, domain, measured, tuple(zip(targets(terms.queries, domain), measured.parts, strict=True)))

    def share(self, question: Query) -> float | None:
        """The error of the share that the release answers, at most, 95 % of the time; None where it is not known."""
        columns = frozenset(question.columns)
        for target, part in self.figures:
            if columns in target.covered:
                weights = question.weights / question.denominator
                single = part.count_within is not None and np.count_nonzero(weights) == 1
                return (part.single if single else part.within) + self._apart(question)
        for target, part in self.figures:
            if not target.tables and target.query is not None and is_member(question, target.query, self.domain):
                return part.within + self._apart(question)
        return None

    def count(self, count: float, share: float, error: float) -> float:
        """The error in rows that goes with it: N lies between the measured ends, as the bound of the share supposes."""
        low, high = max(0.0, share - error) * self.measured.rows_low, (share + error) * self.measured.rows_high
        return max(count - low, high - count, 0.0)

    def _apart(self, question: Query) -> float:
        """Shares of one table are shares of its own sum here, and were measured as shares of all rows."""
        rows = float(self.release.marginal(()).sum())
        return abs(1 - float(self.release.marginal(question.columns).sum()) / rows) if rows > 0 else 0.0
