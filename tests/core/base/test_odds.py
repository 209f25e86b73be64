import math

import pytest

from core.base.odds import HARM, odds
from core.privacy.budget import Budget


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 4.0])
def test_the_sentence_states_bayes_rule_for_an_even_bet(epsilon):
    sure = math.exp(epsilon) / (1 + math.exp(epsilon))
    assert f"{100 * sure:.0f} % sure" in odds(epsilon)


def test_certainty_is_never_rounded_up_to_a_hundred():
    assert " 100 %" not in odds(8.0) + odds(1000.0)


def test_presets_are_budgets_and_more_harm_means_less():
    epsilons = [Budget(*values).epsilon for values in HARM.values()]
    assert epsilons == sorted(epsilons)
