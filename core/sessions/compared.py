"""The answers of a session beside the truth.

**Privacy** None: exact, for the curator's eyes only. Nothing here may enter a transcript, an export or a log.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.kernel.query import Query, Single
from core.sessions.session import Session
from core.table.counts import Counts

MOST_COMPARED = 500
"""Answers, the newest: each is one pass over the rows of its columns."""


@dataclass(frozen=True, kw_only=True)
class ComparedAnswer:
    """One released answer and the true one, as shares of the table."""

    number: int
    words: str
    truth: float
    share: float
    inside: bool | None
    """Whether the truth lies in the interval that was promised; None where none was."""

    @property
    def error(self) -> float:
        return abs(self.truth - self.share)


def compare_answers(session: Session, truth: Counts) -> tuple[ComparedAnswer, ...]:
    """The newest answers, in their order."""
    found = []
    for answer in session.transcript()[-MOST_COMPARED:]:
        true, ends = _share(session.question(answer.number), truth), answer.interval
        # An interval is stored as a float; a truth on its edge is inside.
        inside = None if ends is None else ends[0] - 1e-9 <= true <= ends[1] + 1e-9
        found.append(
            ComparedAnswer(number=answer.number, words=answer.words, truth=true, share=answer.share, inside=inside)
        )
    return tuple(found)


def _share(question: Single, truth: Counts) -> float:
    if isinstance(question, Query):
        return question.answer(truth)
    rows = float(truth.marginal(()).sum())
    return float(question.total(truth)) / (question.denominator * rows) if rows > 0 else 0.0
