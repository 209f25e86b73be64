"""What a guest may ask of a shared session: its hard answers are few, and the curator says how many guests may take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from core.base.errors import Refused
from core.kernel.query import Query, Single
from core.queries.kit.protocol import Source
from core.sessions.answer import Answer
from core.sessions.kept.turn import now
from core.sessions.question import SessionQuestion
from core.sessions.select_answer import SelectAnswer, answer_select
from core.sessions.session import Session

UNLISTED = 0
"""The number of an answer that is not in the transcript."""
NOTHING_PUBLIC = (
    "This session measures every question, and no measurement is left to this visit; what was asked before can be "
    "asked again."
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Visit:
    """The questions of one guest, while no more than `hard` of the session's hard answers are taken by them.

    Whether a question is hard is known only after the table was looked at. So a question that might take more than is
    allowed is not compared with the table at all: it is answered from what is public already, without a promise.

    **Privacy** such an answer is post-processing of earlier ones and reads nothing private; all others are those of
    the session. How many a guest may take is courtesy among those who ask, not privacy: two guests who ask at the same
    moment may both take the last one that is left to them.
    """

    session: Session
    hard: int
    """Hard answers that this guest may still take."""
    kept: int = 0
    """Hard answers of the session that all guests leave to the curator."""

    def answer(self, question: Single) -> tuple[Answer, int]:
        """The answer, and the hard answers that it took."""
        [known] = self._stored([question])
        if known is not None:
            return known, 0
        if not self._may_take(1):
            [answer] = self._from_public([question])
            return answer, 0
        answer = self.session.answer(question)
        return answer, answer.cost

    def sql(self, text: str) -> tuple[SelectAnswer, int]:
        """The answer to a SELECT, and the hard answers that it took at most."""
        price, session = self.session.sql_price(text), self.session
        if self._may_take(price.hard):
            before = self._left()
            found = session.sql(text)
            return found, 0 if before is None or found.left is None else min(price.hard, before - found.left)
        found = answer_select(
            text,
            session.domain,
            ask=self._from_public,
            known=lambda query: self._stored([query])[0] is not None,
            left=self._left,
            tables=session.answers_tables,
            measures_all=False,
        )
        return found, 0

    def may_measure(self) -> bool:
        """Whether the next question of this guest may be compared with the table."""
        return self._may_take(1)

    def _may_take(self, answers: int) -> bool:
        left = self._left()
        return left is None or answers <= min(self.hard, left - self.kept)

    def _left(self) -> int | None:
        return self.session.summary().left

    def _stored(self, questions: Sequence[Single]) -> list[Answer | None]:
        keys = [SessionQuestion.of(question, self.session.domain).key for question in questions]
        return [self.session.file.asked_before(self.session.id, key) for key in keys]

    def _from_public(self, questions: Sequence[Single]) -> list[Answer]:
        stored = self._stored(questions)
        return [
            known if known is not None else self._unchecked(question)
            for question, known in zip(questions, stored, strict=True)
        ]

    def _unchecked(self, question: Single) -> Answer:
        asked, source = SessionQuestion.of(question, self.session.domain), self._public
        if source is None or not isinstance(question, Query):
            raise Refused(NOTHING_PUBLIC)
        rows, share = float(source.marginal(()).sum()), question.answer(source)
        return Answer(
            number=UNLISTED,
            at=now(),
            words=asked.words,
            share=share,
            count=share * rows,
            margin=None,
            rows=rows,
            kind="unchecked",
            spent=self.session.summary().hard,
            left=self._left(),
            low=None,
            high=None,
        )

    @cached_property
    def _public(self) -> Source | None:
        return self.session.hypothesis()
