"""What a session tells: released answers, how far it has got, and the transcript as a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from core.mechanisms.kit.interactive import ReplyKind
from core.privacy.budget import Budget
from core.release.files.spreadsheet import to_csv

SessionStatus = Literal["open", "closed"]
EndReason = Literal["closed", "failed"]
"""Closed: by its curator, or because it was put back from an older copy. Failed: an answer could not be computed."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One released answer, as it is stored. Everything in it is public."""

    number: int
    """Its place in the session, from 1."""
    at: str
    """When the question arrived (UTC)."""
    words: str
    share: float
    """The weighted share of the table, from 0 to 1."""
    count: float
    """The same in rows."""
    margin: float | None
    """In rows: the truth is within count ± margin, 95 % of the time; None where nothing can be promised."""
    rows: float | None
    """The released estimate of all rows; None where there is none."""
    kind: ReplyKind
    spent: int
    """Hard answers that the session has given by then, this one included."""
    left: int | None
    """Hard answers that it could still give by then; None where there is no limit."""
    low: float | None
    high: float | None
    """The true share lies between them, 95 % of the time; None where nothing can be promised, and for answers of the
    versions before, whose interval left out the noise in the number of rows."""

    @property
    def value(self) -> float:
        return self.share

    @property
    def cost(self) -> int:
        """Hard answers that this one took: 1 or 0. The privacy budget itself was paid when the session opened."""
        return int(self.kind == "hard")

    @property
    def interval(self) -> tuple[float, float] | None:
        """Where the true share lies, within 0 and 1."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    @property
    def count_interval(self) -> tuple[float, float] | None:
        """The count with its margin, not below 0."""
        if self.margin is None:
            return None
        return max(self.count - self.margin, 0.0), max(self.count + self.margin, 0.0)


@dataclass(frozen=True, kw_only=True)
class Summary:
    """How far a session has got. Public."""

    status: SessionStatus
    questions: int
    easy: int
    hard: int
    unchecked: int
    left: int | None
    """Hard answers that it can still give; None where there is no limit."""
    limit: int | None
    """Hard answers that it could give at its start; None where there is no limit."""
    budget: Budget
    """What was paid when it opened, or for the release behind it."""
    budget_share: float
    """What it takes of the table's total budget, as a share: that payment, less what was given back."""
    room: int
    """Questions that it can answer altogether, hard or not."""
    opened: str
    reason: EndReason | None
    """Why it ended."""
    given_back: float
    """What it gave back when it ended, as a share of the table's total budget."""


def transcript_csv(answers: Sequence[Answer]) -> bytes:
    """The answers as CSV; in a question an apostrophe stands where a spreadsheet could begin a formula."""
    known = ("share", "low", "high", "count", "margin")
    columns = ("number", "asked_at", "question", *known, "kind", "hard_so_far", "left")
    lines = []
    for answer in answers:
        low, high = answer.interval or (None, None)
        values = (answer.share, low, high, answer.count, answer.margin)
        lines.append((answer.number, answer.at, answer.words, *values, answer.kind, answer.spent, answer.left))
    frame = pd.DataFrame(lines, columns=pd.Index(columns))
    return to_csv(frame.astype({"left": "Int64"}))
