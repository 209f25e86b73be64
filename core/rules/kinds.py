"""The kinds of rules: a condition that always holds, a comparison of columns, a key, and a count that is known.

A rule speaks of records of the public schema. What it says of a record is decided by the record's cells: a comparison
of columns holds where some values inside the cells fulfil it, and the values of released records are drawn so that
they do. A comparison of columns says nothing of a record in which one of them is missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from core.base.arrays import Columns, Flags, Floats
from core.base.errors import printable
from core.base.wording import amount
from core.formulas.question import in_words, laid_out
from core.formulas.syntax import Node, negated
from core.formulas.writing import number_text, sum_text
from core.rules.bins import BinEnds
from core.schema.domain import Domain

ROUNDING = 1e-9
"""Of the largest term: what sums of values may be off by in floating point."""
ConditionKind = Literal["impossible", "implied", "always"]
_FLIPPED = {">=": "<=", ">": "<", "<=": ">=", "<": ">", "=": "="}


@dataclass(frozen=True)
class ConditionRule:
    """Every record fulfils a formula, or none does."""

    text: str
    columns: Columns
    kind: ConditionKind
    node: Node
    """What always holds."""
    parts: tuple[Node, Node] | None = None
    """Of an implication what it begins with and what follows."""

    def allowed(self, domain: Domain) -> Flags:
        """Whether each combination of the columns may occur."""
        return laid_out(self.node, domain, also=self.columns)[1]

    def words(self, domain: Domain) -> str:
        if self.kind == "impossible":
            return f"No record has {in_words(negated(self.node), domain)}"
        if self.kind == "always":
            return f"Every record has {in_words(self.node, domain)}"
        assert self.parts is not None
        return f"If {in_words(self.parts[0], domain)}, then {in_words(self.parts[1], domain)}"


@dataclass(frozen=True)
class LinearRule:
    """A weighted sum of ordered columns compared with a number, such as `discharge >= admission` or `a = b + c`."""

    text: str
    columns: Columns
    weights: tuple[float, ...]
    """One for each column, none of them 0."""
    operator: str
    cut: float

    def ends(self, domain: Domain) -> list[BinEnds]:
        return [BinEnds.of(domain[name]) for name in self.columns]

    def bounds(self, domain: Domain) -> tuple[float, float]:
        """The sum may lie from here to there, both included; strict comparisons end one step before."""
        steps = [each.step for each in self.ends(domain)]
        whole = all(steps) and all(weight == int(weight) for weight in self.weights)
        gap = min(steps) if whole else 2 * ROUNDING * max(1.0, abs(self.cut))
        low = self.cut + (gap if self.operator == ">" else 0.0) if self.operator in (">", ">=", "=") else -np.inf
        high = self.cut - (gap if self.operator == "<" else 0.0) if self.operator in ("<", "<=", "=") else np.inf
        return low, high

    def fits(self, domain: Domain, lows: list[Floats], highs: list[Floats]) -> Flags:
        """Whether values between these ends, one array for each column, may fulfil it; with NaN it says nothing."""
        least, most, size = np.zeros(()), np.zeros(()), np.full((), abs(self.cut))
        for weight, low, high in zip(self.weights, lows, highs, strict=True):
            ends = weight * low, weight * high
            least, most = least + np.minimum(*ends), most + np.maximum(*ends)
            size = np.maximum(size, np.maximum(np.abs(ends[0]), np.abs(ends[1])))
        low_cut, high_cut = self.bounds(domain)
        slack = ROUNDING * size
        return np.asarray(np.isnan(least) | ((most >= low_cut - slack) & (least <= high_cut + slack)))

    def allowed(self, domain: Domain) -> Flags:
        shapes = [
            [-1 if axis == place else 1 for axis in range(len(self.columns))] for place in range(len(self.columns))
        ]
        ends = self.ends(domain)
        lows = [each.lows.reshape(shape) for each, shape in zip(ends, shapes, strict=True)]
        highs = [each.highs.reshape(shape) for each, shape in zip(ends, shapes, strict=True)]
        return np.broadcast_to(self.fits(domain, lows, highs), domain.shape(self.columns))

    def words(self, domain: Domain) -> str:
        left = [(name, weight) for name, weight in zip(self.columns, self.weights, strict=True) if weight > 0]
        right = [(name, -weight) for name, weight in zip(self.columns, self.weights, strict=True) if weight < 0]
        operator = self.operator
        if not left:
            left, right, operator = right, left, _FLIPPED[operator]
        said = {">=": "is at least", ">": "is above", "<=": "is at most", "<": "is below", "=": "is"}[operator]
        cut = self.cut if left[0][0] in self.columns and operator == self.operator else -self.cut
        other = _plain(right) + (f" {'+' if cut > 0 else '-'} {number_text(abs(cut))}" if cut else "")
        return f"{_plain(left)} {said} {other}"


@dataclass(frozen=True)
class KeyRule:
    """One column is a function of another, whichever function: two records that agree in the first agree in the second.

    Which function it is follows from the released model, as far as other rules leave it open.
    """

    text: str
    columns: Columns
    """The key, then what follows from it."""

    def words(self, domain: Domain) -> str:
        key, other = map(printable, self.columns)
        return f"Records with the same {key} have the same {other}"


@dataclass(frozen=True)
class TotalRule:
    """A publicly known number of records that fulfil a formula."""

    text: str
    columns: Columns
    node: Node
    number: int

    def counted(self, domain: Domain) -> Flags:
        """Which combinations of the columns are counted."""
        return laid_out(self.node, domain, also=self.columns)[1]

    def words(self, domain: Domain) -> str:
        return f"Exactly {amount(self.number)} records have {in_words(self.node, domain)}"


@dataclass(frozen=True, eq=False)
class TableRule:
    """A rule that is known combination by combination: which function a key has turned out to be."""

    text: str
    columns: Columns
    table: Flags

    def allowed(self, domain: Domain) -> Flags:
        return self.table

    def words(self, domain: Domain) -> str:
        return f"{printable(self.columns[1])} as it follows from {printable(self.columns[0])}"


RecordRule = ConditionRule | LinearRule | TableRule
Rule = ConditionRule | LinearRule | KeyRule | TotalRule | TableRule


def _plain(terms: list[tuple[str, float]]) -> str:
    named = [(printable(name), weight) for name, weight in terms]
    return printable(named[0][0]) if len(named) == 1 and named[0][1] == 1 else sum_text(named)
