"""What a SELECT asks for: numbers about the rows that fulfil a condition, for each group or for all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from core.base.arrays import Columns
from core.formulas.syntax import Node

AggregateKind = Literal["count", "sum", "average", "quantile"]


@dataclass(frozen=True, kw_only=True)
class Aggregate:
    """One number per group."""

    measure: AggregateKind
    column: str | None
    """None for all rows; otherwise rows whose value of it is missing do not count."""
    share: float = 0.0
    """Of a quantile: the smallest value that this share of the rows does not exceed."""
    title: str
    """Its name in the answer: as it was called, or as it was written."""


def headings(title: str) -> tuple[str, str, str]:
    """What a number and the ends of its interval are called in the answer.

    >>> headings("n")
    ('n', 'n from', 'n to')
    """
    return title, f"{title} from", f"{title} to"


@dataclass(frozen=True, kw_only=True)
class Select:
    """A checked statement about one schema."""

    aggregates: tuple[Aggregate, ...]
    """At least one; all headings of the answer differ."""
    condition: Node | None
    """In two-valued logic: a row counts if SQL's condition is true, and neither if it is false nor if it is unknown."""
    groups: Columns
    """In the order in which they were written; none means one group of all rows."""
