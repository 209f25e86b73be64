"""How much one session may keep, whoever asks: free questions must not fill a disk, nor make a transcript unreadable.

Counts and sizes of questions are public, so a refusal here tells nothing about the table.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.base.errors import Refused
from core.base.wording import amount

MOST_ANSWERS = 100_000
"""Answers of one session: some 70 MB with their words."""
MOST_KEPT = 64_000_000
"""Bytes of the weights of all its questions, compressed; one question over four million combinations takes up to half
a million."""
MOST_OF_A_VISIT = 200
"""Questions that a visitor may ask of all shared sessions without coming again."""


@dataclass(frozen=True)
class Kept:
    """What a session keeps already."""

    answers: int
    weights: int
    """Bytes."""

    def check(self, question: int, answers: int = 1) -> None:
        """Refuse questions of so many bytes where there is no room for them, before anything is computed."""
        if self.answers + answers > MOST_ANSWERS:
            raise Refused(f"This session has given all its {amount(MOST_ANSWERS)} answers; open another one.")
        if self.weights + question > MOST_KEPT:
            raise Refused(
                "The questions of this session fill the room that it has; ask about fewer columns, or open another one."
            )
