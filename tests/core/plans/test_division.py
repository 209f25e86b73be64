"""A budget that is divided pays for both parts, and the mechanism loses little."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import pytest

from core import registry
from core.base.errors import BadParameter
from core.plans.division import divided
from core.plans.release_terms import ReleaseTerms
from core.privacy.budget import Budget, HalvedBudget, OneWayBudget
from core.privacy.spendable import covers
from core.privacy.unit import Unit
from core.queries.kit.protocol import QueryClass
from core.queries.marginals import Marginals
from core.schema.domain import Domain, Integers
from tests.core.samples import SMALL
from tests.privacy.kit import cases

BUDGETS = (Budget("0.9"), Budget("0.9", "1e-7"), HalvedBudget("0.9", "1e-7"), OneWayBudget("0.9", "1e-7"))
SHARES = (Fraction(1, 100), Fraction(1, 50), Fraction(1, 20))


def served() -> list[tuple[str, str, Budget]]:
    """Every mechanism with the first classes that it serves, and the budgets that it can have for them."""

    def budgets(name: str, queries: Sequence[QueryClass]) -> list[Budget]:
        return [each for each in BUDGETS if cases.build(name, queries, each, cases.DOMAIN, Unit.row()) is not None]

    found = []
    for name in registry.offline:
        works = (
            (example, able)
            for example, queries in cases.EXAMPLES.items()
            if example != "lipschitz" and (able := budgets(name, queries))
        )
        example, able = next(works)
        found += [(name, example, budget) for budget in able]
    return found


@pytest.mark.crossing(keep=2, each="name")
@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize(("name", "example", "budget"), served(), ids=str)
def test_both_parts_together_stay_within_the_budget(name, example, budget, share):
    queries = cases.EXAMPLES[example]
    terms = ReleaseTerms(queries=tuple(queries), mechanism=name, budget=budget, measure=share)
    mechanism, measuring = divided(terms, cases.DOMAIN, Unit.row())
    assert measuring is not None
    taken = measuring.cost(cases.DOMAIN, Unit.row())
    assert covers(budget, mechanism.cost(cases.DOMAIN, Unit.row()) + taken)
    # Four shares at most: mixtures of noise and choices add up worse than each alone.
    assert budget.epsilon * (1 - 4 * share) <= mechanism.budget.epsilon < budget.epsilon


def test_gaussian_noise_loses_half_the_share():
    """rho grows with the square of epsilon."""
    terms = ReleaseTerms(
        queries=(Marginals(order=2),), mechanism="gaussian", budget=Budget(1, "1e-9"), measure=Fraction(1, 50)
    )
    mechanism, _ = divided(terms, SMALL, Unit.row())
    assert 0.988 < mechanism.budget.epsilon < 0.992


def test_nothing_is_divided_unless_it_is_asked_for():
    terms = ReleaseTerms(queries=(Marginals(order=2),), mechanism="laplace", budget=Budget(1))
    mechanism, measuring = divided(terms, SMALL, Unit.row())
    assert measuring is None and mechanism.budget == Budget(1)


def test_what_cannot_be_measured_is_refused():
    domain = Domain((Integers(name="x", low=0, high=1),))
    terms = ReleaseTerms(
        queries=(Marginals(order=1),), mechanism="laplace", budget=Budget("1e-9"), measure=Fraction(1, 50)
    )
    with pytest.raises(BadParameter, match="measure"):
        divided(terms, domain, Unit.row())
