"""What an accuracy theorem is, and how it is solved for the error, the rows or the epsilon.

A theorem says: with this many rows and this epsilon, every answer of the class is within `alpha` of the truth with
probability 1 - beta. It is written once, as the condition under which its proof goes through. A condition that is met
stays met with a larger alpha, more rows or a larger epsilon, so each of the three can be found by bisection from the
other two, also where the paper's bound is implicit (the number of rounds depends on the accuracy).

**Letters.** `alpha` is the error as a share of the rows, `beta` the probability that a run misses it, `epsilon` and
`delta` are privacy, `rows` is n. Sizes are natural logarithms, so a universe of 10^17 or of 2^1000 cells is an ordinary
number. One row moves one answer by at most 1/n, as in the papers; where a person may hold L rows, ask with n/L rows.
"""

from __future__ import annotations

import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import ClassVar, Protocol, SupportsFloat

from core.base.errors import BadParameter
from core.base.wording import amount

LARGEST_EPSILON = 1000.0
"""As in `Budget`: beyond that nothing is protected."""
_SMALLEST_EPSILON = 2.0**-100
_SMALLEST_ALPHA, _LARGEST_ALPHA = 1e-30, math.nextafter(1.0, 0.0)
_PRECISION = 1e-13
"""Relative width at which a bisection over real numbers stops; rows are exact up to 2^52."""
_MOST_BITS = 1 << 26
"""Rows are searched up to 2^(2^26): random projections to thousands of dimensions really ask for such numbers."""


class Bound(Protocol):
    """One accuracy theorem with its sizes filled in."""

    theorem: ClassVar[str]
    """Where it is proved."""

    @property
    def up_to_constants(self) -> bool:
        """Whether the paper hides a constant, so that only the growth of the numbers means something."""

    def holds(self, *, alpha: float, rows: int, epsilon: float) -> bool:
        """Whether the theorem promises this accuracy."""

    def error(self, rows: int, epsilon: float) -> float:
        """The smallest alpha that is promised; 1.0, which every share meets, if nothing is."""

    def rows(self, alpha: float, epsilon: float) -> int:
        """The fewest rows with which alpha is promised."""

    def epsilon(self, alpha: float, rows: int) -> float:
        """The smallest epsilon with which alpha is promised."""


@dataclass(frozen=True, kw_only=True)
class Theorem(ABC):
    """The three directions of a theorem, from its condition."""

    theorem: ClassVar[str]

    beta: float = 0.05
    """Probability that a run misses the promised error."""

    def __post_init__(self) -> None:
        for field in fields(self):
            check(field.name, getattr(self, field.name))

    @property
    def up_to_constants(self) -> bool:
        return False

    @property
    def floor(self) -> float:
        """The error that stays however many rows there are."""
        return 0.0

    @abstractmethod
    def _enough(self, alpha: float, rows: int, epsilon: float) -> bool:
        """The theorem's condition, for arguments that have been checked."""

    def holds(self, *, alpha: float, rows: int, epsilon: float) -> bool:
        return self._enough(_accuracy(alpha), _count(rows), _privacy(epsilon))

    def error(self, rows: int, epsilon: float) -> float:
        count, privacy = _count(rows), _privacy(epsilon)
        found = smallest(lambda alpha: self._enough(alpha, count, privacy), _SMALLEST_ALPHA, _LARGEST_ALPHA)
        return 1.0 if found is None else found

    def rows(self, alpha: float, epsilon: float) -> int:
        target, privacy = self._reachable(alpha), _privacy(epsilon)
        found = fewest(lambda count: self._enough(target, count, privacy))
        if found is None:
            raise BadParameter("alpha", "needs more rows than can be written down; choose a larger one.")
        return found

    def epsilon(self, alpha: float, rows: int) -> float:
        target, count = self._reachable(alpha), _count(rows)
        found = smallest(lambda value: self._enough(target, count, value), _SMALLEST_EPSILON, LARGEST_EPSILON)
        if found is None:
            needed = amount(self.rows(target, 1.0))
            raise BadParameter(
                "rows", f"are too few for this accuracy at any epsilon up to 1,000; epsilon 1 needs {needed} rows."
            )
        return found

    def _reachable(self, alpha: float) -> float:
        if _accuracy(alpha) <= self.floor:
            raise BadParameter("alpha", f"must be above {self.floor:g}, an error that more rows do not remove.")
        return float(alpha)


def smallest(holds: Callable[[float], bool], low: float, high: float) -> float | None:
    """The smallest number from low to high at which a condition holds that never fails again; `None` if none does."""
    if not holds(high):
        return None
    if holds(low):
        return low
    while high > low * (1 + _PRECISION):
        middle = math.sqrt(low) * math.sqrt(high)
        if not low < middle < high:
            break
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def fewest(holds: Callable[[int], bool]) -> int | None:
    """The smallest whole number from 1 at which such a condition holds: its length in bits first, then its value."""
    if holds(1):
        return 1
    short, long = 0, 1
    while not holds(1 << long):
        short, long = long, 2 * long
        if long > _MOST_BITS:
            return None
    while long - short > 1:
        middle = (short + long) // 2
        short, long = (short, middle) if holds(1 << middle) else (middle, long)
    low, high = 1 << short, 1 << long
    while high - low > max(1, high >> 52):
        between = (low + high) // 2
        low, high = (low, between) if holds(between) else (between, high)
    return high


def _number(parameter: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, SupportsFloat) or math.isnan(value):
        raise BadParameter(parameter, "must be a number.")
    return float(value)


def _accuracy(alpha: float) -> float:
    value = _number("alpha", alpha)
    if not 0 < value < 1:
        raise BadParameter("alpha", "must be above 0 and below 1: an error as a share of the rows; try 0.1.")
    return value


def _privacy(epsilon: float) -> float:
    value = _number("epsilon", epsilon)
    if not 0 < value <= LARGEST_EPSILON:
        raise BadParameter("epsilon", "must be above 0 and at most 1,000; try 1.")
    return value


def _count(rows: int) -> int:
    try:
        value = operator.index(rows)
    except TypeError:
        raise BadParameter("rows", "must be a whole number of at least 1.") from None
    if isinstance(rows, bool) or value < 1:
        raise BadParameter("rows", "must be a whole number of at least 1.")
    return value


def probability(parameter: str, value: object) -> None:
    """Refuse what is not strictly between 0 and 1."""
    if not 0 < _number(parameter, value) < 1:
        raise BadParameter(parameter, "must be above 0 and below 1; try 0.05.")


def failure(parameter: str, value: object) -> None:
    """Refuse what is not a delta; 0 means pure epsilon."""
    if not 0 <= _number(parameter, value) < 1:
        raise BadParameter(parameter, "must be at least 0 and below 1; try 1e-9, or 0 for pure epsilon.")


def _log_size(parameter: str, value: object) -> None:
    if not 0 <= _number(parameter, value) < math.inf:
        raise BadParameter(
            parameter, "must be the natural logarithm of a finite size; for an infinite class use its dimension."
        )


def _log_universe(parameter: str, value: object) -> None:
    if not math.log(2) * (1 - 1e-12) <= _number(parameter, value) < math.inf:
        raise BadParameter(parameter, "must be the natural logarithm of at least 2 possible records.")


def whole(parameter: str, value: object, least: int = 1) -> None:
    """Refuse what is not a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise BadParameter(parameter, f"must be a whole number of at least {least}.")


def check(parameter: str, value: object) -> None:
    """Refuse a value that does not fit the name of its parameter; names without a rule pass."""
    if parameter in _CHECKS:
        _CHECKS[parameter](parameter, value)


_CHECKS: dict[str, Callable[[str, object], None]] = {
    "beta": probability,
    "delta": failure,
    "log_universe": _log_universe,
    "log_queries": _log_size,
    "log_candidates": _log_size,
    "log_net": _log_size,
    "net_alpha": failure,
    "pieces": whole,
    "dimensions": whole,
}
"""What a field must be, by its name: the same words mean the same in every theorem."""
