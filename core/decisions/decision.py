"""What a private decision is: a public problem, a budget, and a way to decide that sees the rows through the kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Protocol, runtime_checkable

from core.base.bisection import largest_that_fits
from core.base.wording import figure
from core.kernel.asked import Asked
from core.kernel.kernel import Kernel
from core.kernel.noise_level import NoiseLevel
from core.mechanisms.kit.protocol import Progress, silent
from core.privacy.budget import Budget
from core.privacy.events import Cost, Greedy, Laplace, Selection
from core.privacy.spendable import covers, pure_for
from core.privacy.unit import Unit
from core.schema.domain import Domain
from core.table.counts import Counts

ESTIMATE = Fraction(1, 10)
"""Part of epsilon that measures what the finished decision costs."""
FINENESS = 256
"""Steps in which the epsilon of one choice is raised as far as a delta allows."""
FAILURE = 0.05
"""What is promised fails with at most this probability, unless it says another one."""


@dataclass(frozen=True, kw_only=True)
class MeasuredCost:
    """What a decision costs, or is worth, measured with noise."""

    about: str
    value: float
    within: float
    """The true figure is at most this far off, 95 % of the time."""

    def sentence(self) -> str:
        return f"{self.about}: {figure(self.value)}, within ±{figure(self.within)} 95 % of the time."


@dataclass(frozen=True, kw_only=True)
class Decided:
    """A decision as plain, public data."""

    sentence: str
    lines: tuple[Mapping[str, Any], ...]
    """As a table: one line per site, vertex, set, project or rule, all with the same names."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What a program needs of it beyond the lines."""
    estimate: MeasuredCost | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "sentence": self.sentence,
            "lines": [dict(line) for line in self.lines],
            "facts": dict(self.facts),
            "estimate": None if self.estimate is None else vars(self.estimate),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Decided:
        estimate = data["estimate"]
        return cls(
            sentence=data["sentence"],
            lines=tuple(data["lines"]),
            facts=data["facts"],
            estimate=None if estimate is None else MeasuredCost(**estimate),
        )


class Decision(Protocol):
    """A way to solve one problem within a budget; everything it is made of is public."""

    name: ClassVar[str]
    problem: ClassVar[str]
    """What is decided, in the words of the field; several decisions may share a problem."""
    title: ClassVar[str]
    known_as: ClassVar[tuple[str, ...]]
    prefer: ClassVar[str]
    for_study: ClassVar[bool]

    @property
    def budget(self) -> Budget: ...

    def check(self, domain: Domain, unit: Unit) -> None:
        """Refuse a public mistake in one sentence, before anything is spent."""

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        """What deciding on any table of this schema costs."""

    def guarantee(self, domain: Domain, unit: Unit) -> str:
        """What is proven of the decision, with its numbers filled in."""

    def run(self, kernel: Kernel, progress: Progress = silent) -> Decided:
        """Decide; the kernel is all it gets to see of the private table."""

    def value(self, decided: Decided, counts: Counts) -> float:
        """What a decision really costs, or is worth, on a PUBLIC table: for rehearsals and tests."""

    def best(self, counts: Counts) -> float:
        """The same of a decision without privacy, on a PUBLIC table."""


@runtime_checkable
class CountsMisfits(Protocol):
    """A decision that can say which rows of a table it leaves out or counts otherwise."""

    def misfits(self, counts: Counts) -> Mapping[str, int]:
        """How many rows there are of each kind, in words; exact, so for the curator's own eyes."""


@lru_cache(maxsize=256)
def choices(budget: Budget, count: int) -> tuple[Selection, Laplace]:
    """Equal choices that follow one another, and the estimate, which together use a budget."""
    choosing, estimate = divided(budget, (1,) * count)
    return choosing[0], estimate


@lru_cache(maxsize=256)
def divided(budget: Budget, parts: tuple[int, ...]) -> tuple[tuple[Selection, ...], Laplace]:
    """Choices that follow one another, each with its part of the budget, and the estimate.

    With a delta all get as much more as an account that holds the budget pays for.
    """
    whole, count = pure_for(budget), len(parts)
    estimate = whole * ESTIMATE
    least = [whole * (1 - ESTIMATE) * part / sum(parts) for part in parts]

    def raised(steps: int) -> tuple[Selection, ...]:
        return tuple(Selection(each * Fraction(FINENESS + steps, FINENESS)) for each in least)

    if budget.pure or count == 1:
        return raised(0), Laplace(estimate)
    more = largest_that_fits(
        lambda steps: covers(budget, Cost.of([*raised(steps), Laplace(estimate)])),
        start=FINENESS,
        most=FINENESS * count - 1,
    )
    return raised(more), Laplace(estimate)


@lru_cache(maxsize=256)
def in_turn(budget: Budget, count: int) -> tuple[Greedy, Laplace]:
    """Greedy choices that gain nothing twice, and the estimate, which together use a budget.

    Without a delta all choices add up. With one they get as much more as an account pays for, be it because many small
    choices add up to less or because greedy ones together cost little more than one (`greedy.py`).
    """
    whole = pure_for(budget)
    estimate, least = Laplace(whole * ESTIMATE), whole * (1 - ESTIMATE) / count

    def raised(steps: int) -> Greedy:
        return Greedy(least * Fraction(FINENESS + steps, FINENESS), count)

    if budget.pure or count == 1:
        return raised(0), estimate
    more = largest_that_fits(
        lambda steps: covers(budget, Cost.of([raised(steps), estimate])), start=FINENESS, most=FINENESS * count - 1
    )
    return raised(more), estimate


def measured(kernel: Kernel, asked: Asked, event: Laplace, about: str, scale: float = 1.0) -> MeasuredCost:
    """One number with its noise, but never below 0, where no cost is; `scale` is what one step of it is worth."""
    found = kernel.measure(asked, event)
    within = NoiseLevel.of(asked, event, kernel.unit).tail(FAILURE)
    return MeasuredCost(about=about, value=max(0.0, float(found.values.ravel()[0]) * scale), within=within * scale)
