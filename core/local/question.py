"""One question of a questionnaire: which columns, what is wanted of them, and which randomiser answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from core.base.arrays import Columns, IntArray
from core.base.errors import BadParameter, printable
from core.local.kinds import KINDS
from core.schema.attributes import Attribute
from core.schema.domain import Domain
from core.schema.ordered import Integers

WantedFigure = Literal["shares", "ranges", "mean"]
WANTED: tuple[WantedFigure, ...] = get_args(WantedFigure)
CANDIDATES: dict[WantedFigure, tuple[str, ...]] = {
    "shares": ("k-ary", "subset", "unary", "hadamard", "hashing", "square-wave", "hierarchy"),
    "ranges": ("hierarchy", "subset", "square-wave"),
    "mean": ("piecewise", "square-wave", "subset", "hierarchy"),
}
"""Randomisers that give what is wanted."""
IN_ORDER = {"square-wave", "hierarchy", "piecewise"}
HEAPED = 5
"""People round numbers off to multiples of this."""


@dataclass(frozen=True, kw_only=True)
class LocalQuestion:
    """A column, or two columns that are asked together."""

    columns: Columns
    wanted: WantedFigure = "shares"
    smooth: bool = False
    """Declared by the curator from public knowledge: neighbouring answers are about equally frequent."""
    randomiser: str = "k-ary"
    weight: int = 1
    """Of so many people out of all weights together, where each person is asked one question."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        if not 1 <= len(self.columns) <= 2 or len(set(self.columns)) < len(self.columns):
            raise BadParameter("columns", "must be one column, or two different ones that are asked together.")
        if self.wanted not in WANTED:
            raise BadParameter("wanted", f"must be one of: {', '.join(WANTED)}.")
        if isinstance(self.weight, bool) or not isinstance(self.weight, int) or not 1 <= self.weight <= 10**6:
            raise BadParameter("weight", "must be a whole number from 1 to 1,000,000.")
        if not isinstance(self.smooth, bool):
            raise BadParameter("smooth", "must be true or false.")

    def check(self, domain: Domain) -> None:
        """Refuse what the schema does not allow, by the name of the column."""
        offered = self.offered(domain)
        if self.wanted != "shares" and not _in_order(domain, self.columns):
            raise BadParameter("wanted", f"column '{printable(self.columns[0])}' has no order; ask for its shares.")
        if self.wanted == "mean" and not domain[self.columns[0]].numeric:
            raise BadParameter("wanted", f"column '{printable(self.columns[0])}' has no mean; ask for its shares.")
        if self.smooth and not _in_order(domain, self.columns):
            raise BadParameter("smooth", f"column '{printable(self.columns[0])}' has no order that could be smooth.")
        if self.randomiser not in offered:
            raise BadParameter(
                "randomiser", f"'{printable(self.randomiser)}' does not suit '{printable(' × '.join(self.columns))}'; "
                f"choose one of: {', '.join(offered)}.",
            )  # fmt: skip

    def values(self, domain: Domain) -> int:
        return domain.cells(self.columns)

    def offered(self, domain: Domain) -> tuple[str, ...]:
        """The randomisers that give what is wanted of these columns."""
        values, ordered = self.values(domain), _in_order(domain, self.columns)
        if values < 2:
            raise BadParameter("columns", f"column '{printable(self.columns[0])}' has one value only; leave it out.")
        long = values > 256
        found = [name for name in CANDIDATES[self.wanted] if not (long and name in ("subset", "unary"))]
        found = [name for name in found if name in KINDS and (ordered or name not in IN_ORDER)]
        # A shape with spikes would be smeared, so a square wave is not even compared without the declaration.
        return tuple(name for name in found if name != "square-wave" or self.smooth)

    def code(self, domain: Domain, codes: dict[str, IntArray]) -> IntArray:
        """The answers to this question from one code per column and person."""
        first, *rest = (np.asarray(codes[name], dtype=np.int64) for name in self.columns)
        for name, more in zip(self.columns[1:], rest, strict=True):
            first = first * domain[name].size + more
        return first

    def groups(self, domain: Domain) -> IntArray | None:
        """Which answers people round off to, where the answers are single whole numbers."""
        attribute = domain[self.columns[0]]
        if len(self.columns) > 1 or not isinstance(attribute, Integers) or not _in_order(domain, self.columns):
            return None
        if len(attribute.edges) - 1 != attribute.high - attribute.low + 1:
            return None
        return (attribute.edges[:-1] % HEAPED == 0).astype(np.int64)

    def reach(self, domain: Domain) -> float:
        """How far neighbours of an ordered column count when shares are shrunk."""
        values = self.values(domain)
        return values / 10 if _in_order(domain, self.columns) and 20 <= values <= 2_048 else float("inf")


def _in_order(domain: Domain, columns: Columns) -> bool:
    """Whether the codes are in order; a cell for missing values has no place in it."""
    return len(columns) == 1 and _ordered(domain[columns[0]])


def _ordered(attribute: Attribute) -> bool:
    return attribute.ordered and attribute.size == attribute.regular
