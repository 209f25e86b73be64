"""Intervals of an answer: in rows, and as a share of a number of rows that is itself measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from core.kernel.noise_level import Additive
from core.mechanisms.kit.interactive import Reply, ReplyKind
from core.mechanisms.kit.portions import count_level
from core.privacy.unit import Unit

MISS = 0.05
"""Probability with which an interval may miss the truth."""
ROWS_MISS = 0.01
"""The part of it that is left to a measured number of rows; an answer's own noise has the rest."""

Reach = Callable[[float], float]
"""In rows: how far an answer is off at most, but for a probability of so much."""


@dataclass(frozen=True)
class KnownTotal:
    """The number of rows behind shares, and how far off it may be."""

    rows: float
    reach: float
    """It is further off with a probability of at most `ROWS_MISS`; 0 where the number is public."""

    @classmethod
    def measured(cls, rows: float, event: Additive | None, unit: Unit) -> KnownTotal:
        return cls(rows, 0.0 if event is None else count_level(event, unit).tail(ROWS_MISS))

    @property
    def high(self) -> float:
        """No table has more rows, but for a probability of `ROWS_MISS`."""
        return self.rows + self.reach

    def share(self, count: float, reach: Reach) -> tuple[float, float]:
        """Where the share of a count lies, 95 % of the time.

        If |T - count| <= m but for a probability of 4 % and |N - rows| <= r but for 1 %, then both hold but for 5 %,
        and T/N lies between (count - m)/(rows + r) and (count + m)/(rows - r). Leaving r out would claim far too much:
        a share of nearly all rows is off by about as much as their number.
        """
        apart = reach(MISS - ROWS_MISS if self.reach else MISS)
        low = (count - apart) / self.high
        least = self.rows - self.reach
        high = (count + apart) / least if least > 0 else 1.0
        return min(1.0, max(0.0, low)), max(0.0, min(1.0, high))


def hard_first(count: int) -> list[ReplyKind]:
    """Kinds of so many answers from one measurement: the first is hard, the others follow from it.

    >>> hard_first(3)
    ['hard', 'easy', 'easy']
    """
    return ["hard", *["easy"] * (count - 1)]  # type: ignore[list-item]


def reply(count: float, total: KnownTotal, reach: Reach | None, kind: ReplyKind, left: int | None) -> Reply:
    """An answer with both its intervals; with neither where nothing is known of how far it is off."""
    return Reply(
        count=max(0.0, count),
        share=min(1.0, max(0.0, count) / total.rows),
        margin=None if reach is None else reach(MISS),
        interval=None if reach is None else total.share(count, reach),
        kind=kind,
        left=left,
    )
