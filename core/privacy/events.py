"""What a mechanism does to the data: events, and their sequence. `accounting.py` says what they cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from core.base.errors import BadParameter
from core.privacy.budget import exact


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
    """Gaussian noise of variance sensitivity^2/(2 rho) on integers: exactly sqrt(2 rho)-GDP, and rho-zCDP."""

    rho: Fraction

    def __post_init__(self) -> None:
        _check_amount(self, "rho")


@dataclass(frozen=True)
class Greedy:
    """So many choices by the exponential mechanism, of epsilon each, in which nothing is gained twice (`greedy.py`)."""

    epsilon: Fraction
    choices: int

    def __post_init__(self) -> None:
        _check_amount(self, "epsilon")
        if type(self.choices) is not int or self.choices < 1:
            raise BadParameter("choices", "must be a whole number of at least 1.")


Event = Pure | Laplace | Selection | Gaussian | Greedy


@dataclass(frozen=True)
class Cost:
    """What a mechanism does to the private data, as a sequence of events; `+` composes."""

    events: tuple[Event, ...]

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.events + other.events)

    @classmethod
    def of(cls, events: Iterable[Event]) -> Cost:
        return cls(tuple(events))

    @cached_property
    def counts(self) -> Counter[Event]:
        """How often each event happens, whatever the order.

        Long sequences repeat one object, and hashing exact amounts is slow: the same objects are put together first.
        """
        objects = {id(event): event for event in self.events}
        counts: Counter[Event] = Counter()
        for identity, times in Counter(map(id, self.events)).items():
            counts[objects[identity]] += times
        return counts

    @property
    def pure(self) -> bool:
        """Whether the cost is finite without any delta."""
        return not any(isinstance(event, Gaussian) and event.rho > 0 for event in self.events)
