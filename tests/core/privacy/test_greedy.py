"""Greedy choices that follow one another, beside the divergences of enumerated ones."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from core.base.errors import BadParameter
from core.privacy.accounting import UNITS, units
from core.privacy.budget import Budget
from core.privacy.events import Cost, Event, Gaussian, Greedy, Laplace, Pure, Selection
from core.privacy.privacy_filter import Filters
from core.theory.composition import advanced, basic, zcdp
from tests.accounts import Spender

ORDERS = [Fraction(3, 2), Fraction(2), Fraction(5), Fraction(95, 4)]
ADDED, REMOVED, REPLACED = (1.0, 0.0), (0.0, 1.0), (0.5, 0.5)


def charged(event: Event, order: Fraction | None) -> float:
    return units(Cost((event,)), order) / UNITS


def moment(random: np.random.Generator, rounds: int, left: tuple[float, float], epsilon: float, order: float) -> float:
    """The exact mean of (P/Q)^order under Q over all outcomes of some rounds; what can be gained is drawn at random."""
    if rounds == 0:
        return 1.0
    gains = np.array(left)[:, None] * random.choice([0.0, 0.0, 0.3, 1.0], (2, 3))
    odds = random.dirichlet(random.choice([0.2, 1.0]) * np.ones(3))
    one, two = (odds * np.exp(epsilon * each) for each in gains)
    one, two = one / one.sum(), two / two.sum()
    after = [moment(random, rounds - 1, tuple(np.array(left) - gain), epsilon, order) for gain in gains.T]
    return float((one**order * two ** (1 - order) * after).sum())


@pytest.mark.parametrize("left", [ADDED, REMOVED, REPLACED], ids=["added", "removed", "replaced"])
@pytest.mark.parametrize("order", ORDERS, ids=float)
def test_no_greedy_choices_cost_more(order: Fraction, left: tuple[float, float]) -> None:
    """Random rounds in which some candidates gain all, some a part and some nothing of what is left."""
    for part in (0.3, 0.9):
        epsilon = math.log1p(part / (float(order) - 1))
        bound = charged(Greedy(Fraction(epsilon), 10**9), order)
        random = np.random.default_rng(1)
        found = max(moment(random, 3, left, epsilon, float(order)) for _ in range(8))
        assert math.log(found) / (float(order) - 1) <= bound


def rare(epsilon: float, order: float, chance: float, rounds: int) -> float:
    """The divergence where in every round an element is covered with this chance on the table that lacks it."""
    with_it = math.exp(epsilon) * chance / (1 + math.expm1(epsilon) * chance)
    here = chance * (chance / with_it) ** (order - 1)
    again = (1 - chance) * ((1 - chance) / (1 - with_it)) ** (order - 1)
    return math.log(here * sum(again**step for step in range(rounds)) + again**rounds) / (order - 1)


@pytest.mark.parametrize("order", ORDERS, ids=float)
def test_many_rare_chances_cost_as_much(order: Fraction) -> None:
    epsilon = math.log1p(0.5 / (float(order) - 1))
    bound = charged(Greedy(Fraction(epsilon), 10**9), order)
    found = rare(epsilon, float(order), 1e-3, 40_000)
    assert 0.99 * bound < found <= bound
    # The leading term, and the thesis' rate inside what holds: 1/(order - 1) is about epsilon/(2 ln(1/delta)).
    small = Fraction(1, 10**4)
    assert charged(Greedy(small, 10**9), order) == pytest.approx(float(order * small**2 / 2), rel=0.01)


def test_few_choices_cost_as_many_single_ones() -> None:
    for order in (None, *ORDERS):
        assert charged(Greedy(Fraction(1, 10), 3), order) == pytest.approx(
            3 * charged(Selection(Fraction(1, 10)), order)
        )
    assert charged(Greedy(Fraction(1, 10), 500), None) == 50
    # At this order nothing bounds an unlimited number of them.
    assert charged(Greedy(Fraction(1), 7), Fraction(2)) == pytest.approx(
        7 * charged(Selection(Fraction(1)), Fraction(2))
    )
    # Just before it does not the bound still counts, and beyond the last digits it does not.
    near = Fraction(math.log1p(1 - 1e-8)), Fraction(math.log1p(1 - 1e-10))
    found = [charged(Greedy(each, 10**9), Fraction(2)) for each in near]
    assert found[0] == pytest.approx(math.log(1e8) - math.log(2), rel=1e-6) and found[1] > 10**8
    assert charged(Greedy(Fraction(0), 9), Fraction(2)) == 0


def test_other_ways_count_them_one_by_one() -> None:
    greedy = Cost((Greedy(Fraction(1, 10), 40), Laplace(Fraction(1, 5))))
    single = Cost((Selection(Fraction(1, 10)),) * 40 + (Laplace(Fraction(1, 5)),))
    filters = Filters.of(Budget(1, "1e-6"))
    one, two = filters.amounts(greedy), filters.amounts(single)
    assert [one["pure"], one["gaussian"]] == [two["pure"], two["gaussian"]]
    assert greedy.pure and basic(greedy) == basic(single) == pytest.approx(4.2)
    assert advanced(greedy, "1e-6") == advanced(single, "1e-6") and zcdp(greedy, "1e-6") == zcdp(single, "1e-6")


def test_an_account_pays_for_them_beside_everything_else() -> None:
    """Forty covers of five hundred choices each and Gaussian noise, at a rate near the thesis' for a single one."""
    account, one = Spender.of(Budget(1, "1e-6")), Cost((Greedy(Fraction(1, 50), 500),))
    for _ in range(40):
        account = account.spend(one)
    assert 0.5 < account.used <= 1
    assert account.fits(Cost((Gaussian(Fraction(1, 500)),))) and not account.fits(Cost((Pure(Fraction(1)),)))


def test_what_they_are_is_checked() -> None:
    for choices in (0, -1, True, 1.0):
        with pytest.raises(BadParameter, match="choices"):
            Greedy(Fraction(1), choices)
    assert Greedy(Fraction(1), 1).choices == 1
    with pytest.raises(BadParameter, match="epsilon"):
        Greedy(Fraction(-1), 3)
