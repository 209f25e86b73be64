"""Questions of anybody about a stored release: answered on the spot, for free, and kept nowhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from core.base.errors import Refused
from core.kernel.query import Query, Single
from core.ledger.ledger import Entry
from core.release.release import Release
from core.schema.domain import Domain
from core.sessions.answer import Answer, SessionStatus
from core.sessions.from_release import FromRelease
from core.sessions.kept.turn import now
from core.sessions.question import SessionQuestion
from core.sessions.select_answer import SelectAnswer, SelectPrice, answer_select, price_select
from core.sessions.visit import UNLISTED


@dataclass(frozen=True, kw_only=True, eq=False)
class AskedRelease:
    """What a reader of a release may ask it without a session: nothing is opened, spent or written down.

    **Privacy** post-processing of what was released; no table is touched.

    **Accuracy** that of the release, with the intervals that were measured of it (`from_release.py`).

    **Runtime** one sum over a released table, or one pass over the records.
    """

    answers_statistics: ClassVar[bool] = False
    free: ClassVar[bool] = True
    status: ClassVar[SessionStatus] = "open"

    entry: Entry
    release: Release

    @property
    def id(self) -> str:
        return f"release-{self.entry.plan_id}"

    @property
    def domain(self) -> Domain:
        return self._source.domain

    def answer(self, question: Single) -> tuple[Answer, int]:
        """The answer, and the hard answers that it took, which are none."""
        if not isinstance(question, Query):
            raise Refused("A release answers sums over the rows only.")
        [answer] = self._answers([question])
        return answer, 0

    def sql(self, text: str) -> tuple[SelectAnswer, int]:
        found = answer_select(
            text,
            self.domain,
            ask=self._answers,
            known=lambda query: True,
            left=lambda: None,
            tables=False,
            measures_all=False,
        )
        return found, 0

    def sql_price(self, text: str) -> SelectPrice:
        return price_select(text, self.domain, left=None, slot=0.0, tables=False)

    def _answers(self, questions: Sequence[Query]) -> list[Answer]:
        return [self._answer(question) for question in questions]

    def _answer(self, question: Query) -> Answer:
        asked = SessionQuestion.of(question, self.domain)
        reply = self._source.reply(question)
        low, high = (None, None) if reply.interval is None else reply.interval
        return Answer(
            number=UNLISTED,
            at=now(),
            words=asked.words,
            share=reply.share,
            count=reply.count,
            margin=reply.margin,
            rows=self._source.source.rows,
            kind=reply.kind,
            spent=0,
            left=None,
            low=low,
            high=high,
        )

    @cached_property
    def answers_questions(self) -> bool:
        """Not where a chosen number of records is all there is: these cannot tell how many rows the table has."""
        try:
            return bool(self._source.source)
        except Refused:
            return False

    @cached_property
    def _source(self) -> FromRelease:
        return FromRelease.of(self.entry, self.release.domain, lambda: self.release)
