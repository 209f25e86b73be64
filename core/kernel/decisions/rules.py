"""What rules get wrong about a yes/no column of the private table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from core.base.arrays import IntArray
from core.base.errors import BadParameter
from core.kernel.asked import Asked, AskedScores, Change, one_number
from core.kernel.query import Totals, check_classes
from core.kernel.remembered import Remembered
from core.privacy.unit import Unit
from core.schema.domain import Domain


@dataclass(frozen=True)
class OneLabel:
    """The rows that have one code of a column, seen through the other columns."""

    counts: Any
    label: str
    code: int

    @property
    def domain(self) -> Domain:
        return self.counts.domain.project([name for name in self.counts.domain.names if name != self.label])

    def marginal(self, columns: Sequence[str]) -> IntArray:
        return np.asarray(self.counts.marginal((*columns, self.label))[..., self.code])

    def combinations(self, columns: Sequence[str]) -> tuple[IntArray, IntArray]:
        codes, often = self.counts.combinations((*columns, self.label))
        kept = codes[:, -1] == self.code
        return codes[kept][:, :-1], often[kept]


@dataclass(frozen=True)
class Mistakes(AskedScores):
    """Minus the rows that each rule gets wrong: a rule says yes where a member of the class holds, then the opposite.

    Rows whose label is neither yes nor no are wrong for no rule. Rules of the class first, then their opposites, in
    units of 1/denominator rows.

    **Sensitivity** a row adds from 0 to the denominator to the mistakes of a rule: L times the denominator.
    """

    one_sided: ClassVar[bool] = True

    query: Totals
    label: str
    codes: tuple[int, int]
    """The codes of no and yes."""
    denominator: int

    def __post_init__(self) -> None:
        check_classes([self.query], linear=True)

    def scores(self, counts: Remembered) -> IntArray:
        return -mistakes(self, counts)

    def sensitivity(self, unit: Unit) -> int:
        return unit.limit * self.denominator


def mistakes(rules: Mistakes, counts: Any) -> IntArray:
    """The exact mistakes of every rule: for the kernel, and for public tables."""
    no, yes = (OneLabel(counts, rules.label, code) for code in rules.codes)
    if rules.query.denominator(no.domain) != rules.denominator:
        raise BadParameter("denominator", "must be that of the class.")
    wrong, right = (np.asarray(rules.query.totals(each), dtype=np.int64) for each in (no, yes))
    negatives, positives = (int(each.marginal(())) * rules.denominator for each in (no, yes))
    return np.concatenate([wrong + positives - right, right + negatives - wrong])


@dataclass(frozen=True)
class RuleMistakes(Asked):
    """The rows that one public rule gets wrong, in units of 1/denominator rows.

    **Change** `one_number`: a row adds from 0 to the denominator.
    """

    rules: Mistakes
    chosen: int

    def counts(self, counts: Remembered) -> IntArray:
        return mistakes(self.rules, counts)[[self.chosen]]

    def change(self, unit: Unit) -> Change:
        return one_number(unit, self.rules.denominator)
