"""Which noise a budget with a delta is spent on: pure noise is allowed too, and the smaller error is taken.

(epsilon, 0) is a stronger promise than (epsilon, delta), so whoever allows the second allows the first. Gaussian noise
wins where many numbers are measured at once, Laplace noise where few are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from core.base.errors import DeskError
from core.mechanisms.kit.protocol import Mechanism
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.kit.protocol import QueryClass
from core.registry import mechanism_from
from core.schema.domain import Domain

WORTH = 0.8
"""The weaker promise is taken where it is expected to make errors at most this part of those with the stronger one.
Expectations are models: `tree` on chains of 5 to 16 columns, and on skewed ones, broke even where 0.8 was expected."""

Choice = TypeVar("Choice")
Made = TypeVar("Made")


def budgets_within(budget: Budget) -> list[Budget]:
    """The budget, and the same epsilon without its delta."""
    if not isinstance(budget, Budget) or budget.pure:
        return [budget]
    return [budget, Budget(Budget.from_json(budget.to_json()).epsilon)]


def all_that_work(budget: Budget, make: Callable[[Budget], Made]) -> list[Made]:
    """What is made of each budget within one, the weakest promise first; the first refusal where none works."""
    made, problem = list[Made](), None
    for each in budgets_within(budget):
        try:
            made.append(make(each))
        except DeskError as refused:
            problem = problem or refused
    if problem is not None and not made:
        raise problem
    return made


def better(choices: Sequence[Choice], error: Callable[[Choice], float]) -> Choice:
    """Of a weaker and a stronger promise the weaker only where it is worth it; a single one as it is."""
    first, last = choices[0], choices[-1]
    return last if first is last or error(first) > WORTH * error(last) else first


def build(
    name: str, queries: Sequence[QueryClass], budget: Budget, options: Mapping[str, Any], domain: Domain, unit: Unit
) -> Mechanism:
    """The mechanism with the better noise, or its refusal; `domain` has the asked columns."""

    def make(within: Budget) -> Mechanism:
        mechanism = mechanism_from(name, queries, within, options)
        mechanism.check(domain, unit)
        # A budget too small to measure anything with one kind of noise is refused here, where the other can stand in.
        mechanism.cost(domain, unit)
        return mechanism

    return better(all_that_work(budget, make), lambda each: each.expected(domain, unit).mean)
