"""What is protected and what it costs: budgets, units of privacy, and the events a mechanism declares.

Events say *what happens* to the data; `accounting.py` says what that costs. All amounts are exact fractions, so that no
rounding of a float ever decides whether a spend is allowed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from core.errors import BadParameter

Neighbours = Literal["add-remove", "replace"]


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


@dataclass(frozen=True)
class Unit:
    """Whose presence is hidden: one row, or all rows (at most `limit`) that share a value of an id column.

    Neighbouring tables differ by adding or removing one unit, or by replacing one (then the number of units is public).
    """

    column: str | None = None
    limit: int = 1
    neighbours: Neighbours = "add-remove"

    def __post_init__(self) -> None:
        if isinstance(self.limit, bool) or not isinstance(self.limit, int) or not 1 <= self.limit <= 1_000_000:
            raise BadParameter("limit", "rows per unit must be a whole number from 1 to 1,000,000.")
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


def _check_amount(event: Event, parameter: str) -> None:
    """An event costs an exact amount of at least 0; a negative one would refund a budget."""
    amount = exact(getattr(event, parameter), parameter)
    if amount < 0:
        raise BadParameter(parameter, "must not be negative.")
    object.__setattr__(event, parameter, amount)


@dataclass(frozen=True)
class Pure:
    """Anything that is epsilon-differentially private."""

    epsilon: Fraction

    def __post_init__(self) -> None:
        _check_amount(self, "epsilon")


@dataclass(frozen=True)
class Laplace:
    """Laplace noise of scale sensitivity/epsilon on integers."""

    epsilon: Fraction

    def __post_init__(self) -> None:
        _check_amount(self, "epsilon")


@dataclass(frozen=True)
class Selection:
    """The exponential mechanism with weights exp(epsilon score/(2 sensitivity)): its range is bounded by epsilon."""

    epsilon: Fraction

    def __post_init__(self) -> None:
        _check_amount(self, "epsilon")


@dataclass(frozen=True)
class Gaussian:
    """Gaussian noise of variance sensitivity^2/(2 rho) on integers, or anything that is rho-zCDP."""

    rho: Fraction

    def __post_init__(self) -> None:
        _check_amount(self, "rho")


Event = Pure | Laplace | Selection | Gaussian


@dataclass(frozen=True)
class Cost:
    """What a mechanism does to the private data, as a sequence of events; `+` composes."""

    events: tuple[Event, ...]

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.events + other.events)

    @classmethod
    def of(cls, events: Iterable[Event]) -> Cost:
        return cls(tuple(events))

    @property
    def pure(self) -> bool:
        """Whether the cost is finite without any delta."""
        return not any(isinstance(event, Gaussian) and event.rho > 0 for event in self.events)
