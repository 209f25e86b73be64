import math
import re

import pytest

from core.base.odds import (
    HARM,
    LARGE_DELTA,
    LARGE_EPSILON,
    SMALL_EPSILON,
    budget_warnings,
    factor_up,
    large_delta_warning,
    odds,
)
from core.privacy.budget import Budget


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 4.0])
@pytest.mark.parametrize("delta", [0.0, 1e-9, 0.02])
def test_an_even_bet_is_won_no_more_often_than_said(epsilon, delta):
    """Against the best test of the worst pair of laws: delta shows the person, the rest is randomised response."""
    wins = delta + (1 - delta) * math.exp(epsilon) / (1 + math.exp(epsilon))
    shown = int(re.search(r"at most (\d+) %", odds(epsilon, delta))[1])
    assert 100 * wins <= shown < 100 * wins + 1


def test_near_certainty_is_called_so():
    assert odds(4.59).count("at most 99 %") == 1
    for epsilon, delta in ((4.6, 0.0), (8.0, 0.0), (1000.0, 0.0), (1.0, 1.0)):
        assert "may win nearly every bet" in odds(epsilon, delta)


def test_budgets_that_promise_little_or_buy_nothing_are_doubted():
    assert budget_warnings(LARGE_EPSILON, 0.0) == budget_warnings(SMALL_EPSILON, LARGE_DELTA) == ()
    assert "above 10" in budget_warnings(10.5, 0.0)[0]
    assert "noise of about 1,000,000 rows" in budget_warnings(1e-6, 0.0)[0]
    assert "pure noise" in budget_warnings(1e-300, 0.0)[0]
    assert budget_warnings(20.0, 0.1) == (budget_warnings(20.0, 0.0)[0], large_delta_warning(0.1))


def test_presets_are_budgets_and_more_harm_means_less():
    epsilons = [Budget(*values).epsilon for values in HARM.values()]
    assert epsilons == sorted(epsilons)


@pytest.mark.parametrize(
    ("delta", "shown"), [(0.99, "all rows"), (0.5, "every other row"), (0.001, "one row in 1,000")]
)
def test_a_delta_that_protects_few_is_said(delta, shown):
    assert f"Delta is {delta:g}, so large" in large_delta_warning(delta)
    assert f"publish about {shown} as it is" in large_delta_warning(delta)


def test_a_small_delta_needs_no_words():
    assert [large_delta_warning(delta) for delta in (0.0, 1e-9, LARGE_DELTA)] == ["", "", ""]
    assert not any(large_delta_warning(delta) for _, delta in HARM.values())


@pytest.mark.parametrize("epsilon", [1e-9, 0.001, 0.0099, 0.01, 0.2, 1.0, 2.302, 4.61, 13.81, 13.82, 50.0, 800.0])
def test_the_factor_is_no_less_than_the_truth_and_close_to_it(epsilon):
    shown = factor_up(epsilon)
    digits, _, power = shown.replace(",", "").partition(" × 10^")
    told = math.log(float(digits)) + int(power or 0) * math.log(10)
    assert told >= epsilon * (1 - 1e-6), shown
    assert told - epsilon <= 0.011 and not (epsilon < 0.01 and told > 2.1 * epsilon), shown
