"""A plan's budget divided between its mechanism and the measuring of what it releases.

**Privacy** The events of both are declared and paid together (`pricing.py`). Where the budget is pure, epsilons add up,
so the mechanism gets what is left of epsilon. With a delta it gets the largest epsilon, in steps of a part of the
measured share, at which an account that holds the whole budget would still pay for everything.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from core.base.bisection import largest_that_fits
from core.base.errors import BadParameter
from core.mechanisms.kit.protocol import Mechanism
from core.mechanisms.measured.measuring import ErrorMeasuring
from core.plans.release_terms import ReleaseTerms
from core.privacy.budget import Budget
from core.privacy.events import Cost, Gaussian
from core.privacy.spendable import covers, mixed_rho_for, rho_for
from core.privacy.unit import Unit
from core.schema.domain import Domain

STEPS = 16
"""Steps in which the mechanism's epsilon is lowered for each measured share: finer ones gain nothing visible."""
MOST_STEPS = 4 * STEPS


def divided(terms: ReleaseTerms, domain: Domain, unit: Unit) -> tuple[Mechanism, ErrorMeasuring | None]:
    """The mechanism with its part of the budget and how its release is measured; `domain` has the asked columns."""
    whole = terms.build()
    if not terms.measure:
        return whole, None
    whole.check(domain, unit)
    measuring = _measuring(terms, whole.cost(domain, unit))
    measuring.check(domain, unit)
    if terms.budget.pure:
        return _with(terms, terms.budget.epsilon * (1 - terms.measure)), measuring
    words = replace(terms.without_table(), records=None, copies=0).write()
    return _lowered(terms, _steps(words, terms.budget, domain, unit)), measuring


@lru_cache(maxsize=1024)
def _steps(words: str, budget: Budget, domain: Domain, unit: Unit) -> int:
    """How far the mechanism's epsilon is lowered; kept, because pages ask for the same prices again and again.

    Nothing is paid by this number: what was divided is priced as it is, each time.
    """
    terms = replace(ReleaseTerms.read(words), budget=budget)
    taken = _measuring(terms, terms.build().cost(domain, unit)).cost(domain, unit)

    def fits(steps: int) -> bool:
        return covers(budget, _lowered(terms, steps).cost(domain, unit) + taken)

    if not fits(MOST_STEPS):
        raise BadParameter("measure", "leaves too little to this mechanism; set it to 0.")
    spared = largest_that_fits(lambda fewer: fits(MOST_STEPS - fewer), start=MOST_STEPS // 2, most=MOST_STEPS - 1)
    return MOST_STEPS - spared


def _measuring(terms: ReleaseTerms, cost: Cost) -> ErrorMeasuring:
    """The measured share of the budget in the kind of noise that the mechanism draws."""
    budget, share = terms.budget, terms.measure
    if cost.pure:
        return ErrorMeasuring(queries=terms.queries, amount=budget.epsilon * share, pure=True)
    rho = rho_for(budget) if all(isinstance(event, Gaussian) for event in cost.events) else mixed_rho_for(budget)
    return ErrorMeasuring(queries=terms.queries, amount=rho * share, pure=False)


def _lowered(terms: ReleaseTerms, steps: int) -> Mechanism:
    return _with(terms, terms.budget.epsilon * (1 - terms.measure * Fraction(steps, STEPS)))


def _with(terms: ReleaseTerms, epsilon: Fraction) -> Mechanism:
    kind = type(terms.budget)
    return replace(terms, budget=kind(epsilon, terms.budget.delta)).build()
