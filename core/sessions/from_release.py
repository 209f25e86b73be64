"""Sessions that answer from a release: everything is public already, so every answer is easy and free."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from core.base.arrays import Codes, Floats, IntArray
from core.base.errors import Refused
from core.kernel.kernel import Kernel
from core.kernel.query import Query
from core.ledger.ledger import Entry
from core.mechanisms.kit.interactive import Reply
from core.mechanisms.kit.protocol import Expected, Mechanism
from core.plans.release_terms import ReleaseTerms
from core.plans.session_terms import chosen_columns, leave_out
from core.privacy.budget import Budget
from core.privacy.events import Cost
from core.privacy.unit import Unit
from core.queries.kit.focus import asked_columns
from core.queries.kit.protocol import QueryClass, Source
from core.queries.marginals import Marginals
from core.release.release import Release
from core.schema.domain import Domain
from core.sessions.measured_bounds import MeasuredBounds

NOTHING_PRIVATE = "a session from a release has no private counts"


@dataclass(frozen=True, eq=False)
class Released:
    """The counts of a release over some columns, whether its tables or its records know them."""

    release: Release
    domain: Domain
    rows: float
    """Estimated rows of the table, as the release knows them."""

    @classmethod
    def of(cls, release: Release, entry: Entry, domain: Domain) -> Released:
        if release.tables:
            return cls(release, domain, float(release.marginal(()).sum()))
        if ReleaseTerms.read(entry.plan_json).records is not None:
            raise Refused(
                "This release has a chosen number of records and no tables, so it cannot tell the number of rows; "
                "use one that drew as many records as the table has."
            )
        return cls(release, domain, float(release.certificate.synthetic_rows))

    def marginal(self, columns: Sequence[str]) -> Floats:
        # Records and tables of one release may differ in their total; one total keeps counts comparable.
        table = self.release.marginal(columns)
        total = float(table.sum())
        return table * (self.rows / total) if total > 0 else table

    def sample(self, rows: int, generator: np.random.Generator) -> Codes:
        """Records of the release, drawn with replacement, as codes of these columns."""
        return self._codes[generator.integers(0, len(self._codes), rows)]

    @cached_property
    def _codes(self) -> Codes:
        records = self.release.records()
        codes = [self.domain[name].encode(records[name])[0] for name in self.domain.names]
        return np.stack(codes, axis=1).astype(np.int64)


@dataclass(frozen=True)
class Untouched:
    """In place of the private counts of a session that answers from a release: there is nothing to be counted."""

    domain: Domain
    unit: Unit
    public_rows: ClassVar[None] = None

    def marginal(self, columns: Sequence[str]) -> IntArray:
        raise TypeError(NOTHING_PRIVATE)

    def combinations(self, columns: Sequence[str]) -> tuple[IntArray, IntArray]:
        raise TypeError(NOTHING_PRIVATE)

    def project(self, columns: Sequence[str]) -> Untouched:
        return Untouched(self.domain.project(columns), self.unit)


def classes_of(
    queries: Sequence[QueryClass] | None, columns: Sequence[str] | None, domain: Domain
) -> Sequence[QueryClass]:
    """What a release is made for: the given query classes, or else the tables of all pairs of the columns."""
    if queries:
        leave_out({"columns": columns}, "the query classes name their columns")
        return queries
    named = chosen_columns(columns, domain) or domain.names
    return [Marginals(order=min(2, len(named)), columns=named)]


@dataclass(frozen=True, kw_only=True, eq=False)
class FromRelease:
    """Answer from a stored release.

    **Privacy** post-processing of what was released; the table is not touched.

    **Accuracy** that of the release. Where it was measured, questions of a measured class, or about one or two measured
    columns, have an interval from these figures (`measured_bounds.py`). Otherwise none is promised. Even where the
    noise of every cell is known, as in a noisy histogram, it is not the error of a sum: removing negative counts shifts
    many cells the same way. On a census table of 2^14 cells at epsilon 1, ±2.2 standard deviations of the summed noise
    held the truth of a 3-way count 44 % of the time.

    **Runtime** one sum over a released table, or one pass over the records.

    Theorem: G proposition 2.1 (post-processing).
    """

    name: ClassVar[str] = "release"
    title: ClassVar[str] = "Answers from a release"
    known_as: ClassVar[tuple[str, ...]] = ("post-processing",)
    prefer: ClassVar[str] = "Choose it where a good release is stored already."
    refines: ClassVar[bool] = False

    entry: Entry
    domain: Domain
    """The columns that the release was asked about."""
    stored: Callable[[], Release]

    @classmethod
    def of(cls, entry: Entry, domain: Domain, stored: Callable[[], Release]) -> FromRelease:
        """`domain` is the whole schema; the release is read when the first question comes."""
        queries = ReleaseTerms.read(entry.plan_json).queries
        return cls(entry=entry, domain=asked_columns(queries, domain), stored=stored)

    @cached_property
    def made_by(self) -> Mechanism:
        return ReleaseTerms.read(self.entry.plan_json).build()

    @cached_property
    def source(self) -> Released:
        return Released.of(self.stored(), self.entry, self.domain)

    @cached_property
    def bounds(self) -> MeasuredBounds | None:
        """What was measured of the release, if anything was."""
        return MeasuredBounds.of(self.stored(), ReleaseTerms.read(self.entry.plan_json), self.domain)

    @property
    def budget(self) -> Budget:
        return self.made_by.budget

    def check(self, domain: Domain, unit: Unit) -> None:
        """A stored release can always be asked."""

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        return Cost(())

    def expected(self, domain: Domain, unit: Unit) -> Expected:
        return self.made_by.expected(domain, unit)

    def hard_answers(self, domain: Domain, unit: Unit) -> int | None:
        return None

    def slot(self, domain: Domain) -> float:
        """No wait: how long it takes depends on public things only."""
        return 0.0

    def open(self, kernel: Kernel, earlier: Source | None = None) -> Any:
        return None

    def answer(self, state: Any, question: Query, kernel: Kernel) -> tuple[Any, Reply]:
        return state, self.reply(question)

    def reply(self, question: Query) -> Reply:
        """All that an answer needs: neither a kernel nor anything that was asked before."""
        share = question.answer(self.source)
        count = share * self.source.rows
        error = self.bounds.share(question) if self.bounds else None
        if self.bounds is None or error is None:
            return Reply(count=count, share=share, margin=None, kind="easy", left=None)
        margin, interval = self.bounds.count(count, share, error), (max(0.0, share - error), min(1.0, share + error))
        return Reply(count=count, share=share, margin=margin, interval=interval, kind="easy", left=None)

    def peek(self, state: Any) -> Source | None:
        return self.source

    def left(self, state: Any) -> int | None:
        return None

    def released_rows(self, state: Any) -> float:
        return self.source.rows

    def save(self, state: Any) -> bytes:
        return b""

    def load(self, domain: Domain, data: bytes) -> Any:
        return None
