"""Which noise a plan draws: a budget with a delta also allows pure noise, and the smaller error is taken.

(epsilon, 0) is a stronger promise than (epsilon, delta), so whoever allows the second allows the first: a delta never
makes a release worse. Gaussian noise wins where many numbers are measured at once, Laplace noise where few are.
Everything here follows from public facts and from the account, never from the table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from core.base.errors import DeskError
from core.plans.pricing import Priced
from core.privacy.budget import Budget

Choice = TypeVar("Choice")
AnyPriced = TypeVar("AnyPriced", bound=Priced)


def with_better_noise(
    price: Callable[[Budget], AnyPriced],
    budget: Budget,
    *,
    paid: Callable[[str], bool],
    error: Callable[[AnyPriced], tuple[float, ...]],
) -> AnyPriced:
    """What was wished for, or the same with pure noise; `price` refuses what cannot be had, `paid` knows plan ids."""
    pure = _pure_of(budget)
    if pure is None:
        return price(budget)
    try:
        wished = price(budget)
    except DeskError as problem:
        try:
            return price(pure)
        except DeskError:
            raise problem from None
    try:
        other = price(pure)
    except DeskError:
        return wished
    return choose(
        [wished, other],
        paid=lambda each: paid(each.id),
        fits=lambda each: each.units <= each.account.left,
        error=error,
    )


def choose(
    choices: Sequence[Choice],
    *,
    paid: Callable[[Choice], bool],
    fits: Callable[[Choice], bool],
    error: Callable[[Choice], tuple[float, ...]],
) -> Choice:
    """One that is paid for already, so that the same wish stays the same plan; else the best of those that fit."""
    for each in choices:
        if paid(each):
            return each
    return min([each for each in choices if fits(each)] or choices, key=error)


def _pure_of(budget: Budget) -> Budget | None:
    """The same epsilon without a delta; None where there is none to leave out, or where it is no budget at all."""
    if not isinstance(budget, Budget) or budget.pure:
        return None
    return Budget(Budget.from_json(budget.to_json()).epsilon)
