"""Which noise a plan draws: a budget with a delta also allows pure noise, and the smaller error is taken.

(epsilon, 0) is a stronger promise than (epsilon, delta), so whoever allows the second allows the first: a delta never
makes a release worse. Gaussian noise wins where many numbers are measured at once, Laplace noise where few are.
Everything here follows from public facts and from the account, never from the table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from core.base.errors import DeskError
from core.plans.pricing import Priced
from core.plans.release_terms import ReleaseTerms
from core.plans.session_terms import SessionTerms
from core.privacy.budget import Budget

WORTH = 0.8
"""The weaker promise is taken where it is expected to make errors at most this part of those with the stronger one.
Expectations are models: `tree` on chains of 5 to 16 columns, and on skewed ones, broke even where 0.8 was expected."""

Choice = TypeVar("Choice")
Terms = TypeVar("Terms", ReleaseTerms, SessionTerms)
AnyPriced = TypeVar("AnyPriced", bound=Priced[Any, Any])


def with_better_noise(
    price: Callable[[Terms], AnyPriced],
    terms: Terms,
    *,
    paid: Callable[[str], bool],
    error: Callable[[AnyPriced], float],
) -> AnyPriced:
    """These terms, or the same with pure noise; `price` refuses what cannot be had, `paid` knows the ids of plans."""
    priced, problem = list[AnyPriced](), None
    for budget in budgets_within(terms.budget):
        try:
            priced.append(price(replace(terms, budget=budget)))
        except DeskError as refused:
            problem = problem or refused
    if not priced:
        assert problem is not None, "what is not priced was refused"
        raise problem
    return choose(
        priced,
        paid=lambda each: paid(each.id),
        fits=lambda each: each.units <= each.account.left,
        error=error,
    )


def budgets_within(budget: Budget) -> list[Budget]:
    """The budget, and the same epsilon without its delta."""
    if not isinstance(budget, Budget) or budget.pure:
        return [budget]
    return [budget, Budget(Budget.from_json(budget.to_json()).epsilon)]


def choose(
    choices: Sequence[Choice],
    *,
    paid: Callable[[Choice], bool],
    fits: Callable[[Choice], bool],
    error: Callable[[Choice], float],
) -> Choice:
    """One of what `budgets_within` allows: first what is paid for already, so that the same choice stays the same plan.

    Otherwise, of those that fit the account, the one with a delta only where it is worth it.
    """
    for each in choices:
        if paid(each):
            return each
    if len(choices) > 1:
        choices = [each for each in choices if fits(each)] or choices
    first, last = choices[0], choices[-1]
    return last if first is last or error(first) > WORTH * error(last) else first
