"""Whose presence is hidden: one row, or all rows of one person up to a limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from core.base.errors import BadParameter

Neighbours = Literal["add-remove", "replace"]
MOST_ROWS = 1_000_000
"""Rows of one unit at most."""


@dataclass(frozen=True)
class Unit:
    """Whose presence is hidden: one row, or all rows (at most `limit`) that share a value of an id column.

    Neighbouring tables differ by adding or removing one unit, or by replacing one (then the number of units is public).
    """

    column: str | None = None
    limit: int = 1
    neighbours: Neighbours = "add-remove"

    def __post_init__(self) -> None:
        if isinstance(self.limit, bool) or not isinstance(self.limit, int) or not 1 <= self.limit <= MOST_ROWS:
            raise BadParameter("limit", f"rows per unit must be a whole number from 1 to {MOST_ROWS:,}.")
        if self.column is None and self.limit != 1:
            raise BadParameter("limit", "a limit needs an id column; without one a unit is a single row.")
        if self.column is not None and not (isinstance(self.column, str) and self.column):
            raise BadParameter("unit", "the id column needs a name.")
        if self.neighbours not in ("add-remove", "replace"):
            raise BadParameter("neighbours", "must be 'add-remove' or 'replace'.")

    @classmethod
    def row(cls, neighbours: Neighbours = "add-remove") -> Unit:
        """Each row is another person."""
        return cls(neighbours=neighbours)

    @classmethod
    def id(cls, column: str, limit: int, neighbours: Neighbours = "add-remove") -> Unit:
        """All rows with the same id belong to one person; at most `limit` of them are used."""
        return cls(column=column, limit=limit, neighbours=neighbours)

    @property
    def public_rows(self) -> bool:
        """Whether the number of rows is public: every unit is one row, and neighbours have equally many."""
        return self.column is None and self.neighbours == "replace"

    @property
    def l1(self) -> int:
        """Largest L1 change of one table of counts between neighbours.

        A unit holds at most `limit` rows and a row counts in exactly one cell of a table; a replacement removes one
        unit and adds another.
        """
        return self.limit if self.neighbours == "add-remove" else 2 * self.limit

    @property
    def l2_squared(self) -> int:
        """Largest squared L2 change of one table of counts: all rows of a unit may fall into one cell."""
        return self.limit**2 if self.neighbours == "add-remove" else 2 * self.limit**2

    def sentence(self) -> str:
        who = "one row" if self.column is None else f"all rows of one '{self.column}' (at most {self.limit:,})"
        verb = "adding or removing" if self.neighbours == "add-remove" else "replacing"
        return f"Neighbouring tables differ by {verb} {who}."

    def to_json(self) -> dict[str, object]:
        return {"column": self.column, "limit": self.limit, "neighbours": self.neighbours}

    @classmethod
    def from_json(cls, data: dict) -> Unit:
        return cls(column=data["column"], limit=data["limit"], neighbours=data["neighbours"])
