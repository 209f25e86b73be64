"""Which noise a plan draws: that of the better of the promises within its budget, of those that its account can pay.

Everything here follows from public facts and from the account, never from the table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from core.planning.better_noise import all_that_work, better
from core.plans.pricing import Priced
from core.plans.release_terms import ReleaseTerms
from core.plans.session_terms import SessionTerms

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
    return choose(
        all_that_work(terms.budget, lambda budget: price(replace(terms, budget=budget))),
        paid=lambda each: paid(each.id),
        fits=lambda each: each.units <= each.account.left,
        error=error,
    )


def choose(
    choices: Sequence[Choice],
    *,
    paid: Callable[[Choice], bool],
    fits: Callable[[Choice], bool],
    error: Callable[[Choice], float],
) -> Choice:
    """What is paid for already, so that the same choice stays the same plan; else the better one of those that fit."""
    for each in choices:
        if paid(each):
            return each
    if len(choices) > 1:
        choices = [each for each in choices if fits(each)] or choices
    return better(choices, error)
