"""A privacy promise: epsilon and delta as exact fractions, so that no rounding of a float decides about a spend."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from core.base.errors import BadParameter


def exact(value: object, parameter: str) -> Fraction:
    """The number a person typed, exactly: 0.1 is one tenth, not its nearest float.

    >>> exact(0.1, "epsilon")
    Fraction(1, 10)
    """
    if isinstance(value, bool):
        raise BadParameter(parameter, "must be a number.")
    if isinstance(value, Fraction | int):
        return Fraction(value)
    text = str(value)
    try:
        if "/" in text:
            return Fraction(text)
        number = float(text)
        if not math.isfinite(number):
            raise BadParameter(parameter, "must be a finite number.")
        # Below the smallest float nothing is gained but a huge denominator; 0 is the stricter promise.
        return Fraction(text) if number else Fraction(0)
    except (ValueError, ZeroDivisionError):
        raise BadParameter(parameter, "must be a number.") from None


@dataclass(frozen=True, init=False)
class Budget:
    """A privacy promise (epsilon, delta); delta = 0 is pure differential privacy.

    >>> Budget(epsilon=2, delta=1e-9)
    Budget(epsilon=2, delta=1e-09)
    """

    epsilon: Fraction
    """How much one unit of privacy may change the odds of anything published, as a natural logarithm."""
    delta: Fraction
    """Probability with which the epsilon promise may fail."""

    def __init__(self, epsilon: object, delta: object = 0) -> None:
        object.__setattr__(self, "epsilon", exact(epsilon, "epsilon"))
        object.__setattr__(self, "delta", exact(delta, "delta"))
        if self.epsilon <= 0:
            raise BadParameter("epsilon", "must be above 0; try 1.")
        if self.epsilon > 1000:
            raise BadParameter("epsilon", "must be at most 1,000; beyond that nothing is protected.")
        if not 0 <= self.delta < 1:
            raise BadParameter("delta", "must be at least 0 and below 1; try 1e-9, or 0 for pure epsilon.")

    @property
    def pure(self) -> bool:
        return self.delta == 0

    def __repr__(self) -> str:
        return f"Budget(epsilon={float(self.epsilon):g}, delta={float(self.delta):g})"

    def to_json(self) -> dict[str, str]:
        return {"epsilon": str(self.epsilon), "delta": str(self.delta)}

    @classmethod
    def from_json(cls, data: dict[str, str]) -> Budget:
        return cls(data.get("epsilon"), data.get("delta", 0))


class OneWayBudget(Budget):
    """A budget that is spent from an account of the first version, which adds up at one order with all of its delta.

    Everything that such an account pays, and every session that was opened from it, is laid out as it was then.
    """


class HalvedBudget(Budget):
    """A budget that is spent from an account of the second version, which gives half of its delta to Gaussian noise.

    What such an account pays is laid out as it was then, too.
    """
