"""Conditions on a weighted sum of numeric columns: the rows on one side of a plane."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.base.arrays import Columns, Flags
from core.base.errors import printable
from core.formulas.tokens import wrong
from core.formulas.writing import number_text, sum_text
from core.schema.domain import Domain

ROUNDING = 2.0**-50
"""Of the largest possible sum, per term: more than floating point can lose, so that 0.1*x <= 0.3 holds for x = 3."""

_TESTS: dict[str, Callable[[Any, float], Any]] = {
    ">=": lambda height, slack: height >= -slack,
    ">": lambda height, slack: height > slack,
    "<=": lambda height, slack: height <= slack,
    "<": lambda height, slack: height < -slack,
    "=": lambda height, slack: abs(height) <= slack,
}
_WORDS = {">=": "at least", ">": "above", "<=": "at most", "<": "below", "=": "equal to"}


@dataclass(frozen=True)
class WeightedSum:
    """A weighted sum of columns compared with a number, every bin taken at its middle.

    A row with a missing value in one of the columns has no sum and fulfils no comparison.
    """

    terms: tuple[tuple[str, float], ...]
    """Columns in the order of the schema with their weights, none of them 0."""
    operator: str
    cut: float

    @property
    def columns(self) -> Columns:
        return tuple(column for column, _ in self.terms)

    def holds(self, domain: Domain) -> Flags:
        heights, largest = np.full((1,) * len(self.terms), -self.cut), abs(self.cut)
        for axis, (column, weight) in enumerate(self.terms):
            along = weight * domain[column].centers()
            heights = heights + along.reshape([-1 if axis == place else 1 for place in range(len(self.terms))])
            largest += float(np.nanmax(np.abs(along)))
        return np.asarray(_TESTS[self.operator](heights, ROUNDING * (len(self.terms) + 1) * largest))

    def text(self, domain: Domain, denied: bool) -> str:
        left, cut = sum_text(self.terms), number_text(self.cut)
        if denied and self.operator == "=":
            return f"{left} != {cut}"
        return f"{'not ' * denied}{left} {self.operator} {cut}"

    def words(self, domain: Domain, denied: bool) -> str:
        names = [(printable(column), weight) for column, weight in self.terms]
        compared = f"{sum_text(names)} {'not ' * denied}{_WORDS[self.operator]} {number_text(self.cut)}"
        gap = denied and any(domain[column].missing for column in self.columns)
        return f"{compared}{' (missing included)' if gap else ''}"


def weighted(domain: Domain, weights: dict[str, float], operator: str, cut: float) -> WeightedSum:
    """The condition, if all columns are numbers and the sum stays within what can be computed."""
    for column, weight in weights.items():
        if not domain[column].numeric:
            raise wrong(f"column '{printable(column)}' is not a column of numbers, so it cannot stand in a sum.")
        if weight == 0:
            raise wrong(f"column '{printable(column)}' has the weight 0; leave it out.")
    largest = abs(cut)
    for column, weight in weights.items():
        largest += abs(weight) * float(np.nanmax(np.abs(domain[column].centers())))
    if not math.isfinite(2 * largest):
        raise wrong("the numbers in the sum are too large.")
    terms = tuple((name, weights[name]) for name in domain.names if name in weights)
    return WeightedSum(terms, operator, cut)
