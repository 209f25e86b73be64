"""Lemma 2 of the fat-shattering paper: what an error gives away, against all subsets and over many runs."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from core.attacks.hidden_set import by_budget, hidden_set, within
from core.base.errors import BadParameter
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.theory.lower_bounds import reconstruction

RUNS = 200


def weights(hidden, chosen) -> np.ndarray:
    """q_T as a vector of weights."""
    inside = np.isin(np.arange(len(hidden.members)), chosen)
    return hidden.witnesses + np.where(inside, hidden.gamma, -hidden.gamma)


@pytest.mark.exhaustive
def test_the_set_is_the_best_of_all_and_the_error_the_worst_query():
    generator = np.random.default_rng()
    for _ in range(20):
        hidden = hidden_set(8, float(generator.choice([0.1, 0.3, 0.5])))
        told = np.clip(hidden.table + generator.normal(0, 0.6, 8), 0, None)
        best = min(
            weights(hidden, chosen) @ np.isin(np.arange(8), chosen) - weights(hidden, chosen) @ told
            for chosen in combinations(range(8), 4)
        )
        found = np.flatnonzero(hidden.rebuilt(told))
        assert weights(hidden, found) @ hidden.rebuilt(told) - weights(hidden, found) @ told == pytest.approx(best)
        every = [chosen for size in range(9) for chosen in combinations(range(8), size)]
        worst = max(abs(weights(hidden, chosen) @ (hidden.table - told)) for chosen in every)
        assert hidden.error(told) == pytest.approx(worst)


@pytest.mark.parametrize("gamma", [0.1, 0.25, 0.5])
def test_the_promise_of_the_lemma_is_reached_in_every_run(gamma):
    """It follows from the error of the run itself, so no run may miss it; and it says something at these errors."""
    said = []
    for run in range(RUNS):
        hidden = hidden_set(60, gamma)
        told = within(hidden, (run % 20) * gamma)
        assert hidden.error(told) <= (run % 20) * gamma + 1e-9
        assert hidden.share(told) >= hidden.promised(hidden.error(told)) - 1e-12
        said.append(hidden.promised(hidden.error(told)))
    assert max(said) == 1.0 and 0 < np.median(said) < 1


def test_private_noise_gives_back_little_more_than_guessing_and_errs_as_it_must():
    """30 of 60 members by guessing; at epsilon 0.2 about 54 % come back. A mean of 100 runs spreads by 0.007."""
    budget, shares, errors = Budget(0.2, 0), [], []
    for _ in range(100):
        hidden = hidden_set(60, 0.5)
        told = by_budget(hidden, budget)
        shares.append(hidden.share(told))
        errors.append(hidden.error(told))
    assert np.mean(shares) <= math.exp(0.4) / (1 + math.exp(0.4)) + 0.04
    assert np.quantile(errors, 0.95) >= reconstruction(60, budget, Unit.row(), 30)


def test_what_makes_no_sense_is_refused():
    for records, gamma, said in ((7, 0.5, "even"), (8, 0.0, "gamma"), (8, 0.6, "gamma"), (10**6, 0.5, "at most")):
        with pytest.raises(BadParameter, match=said):
            hidden_set(records, gamma)
