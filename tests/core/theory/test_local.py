"""The barrier of the local model: equation 6.1 on every small table, and what theorems 34 to 38 count."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from core.base.errors import BadParameter
from core.theory import local


def conjunctions(records: np.ndarray) -> dict[frozenset[int], float]:
    bits = range(records.shape[1])
    sets = [frozenset(each) for size in range(1, len(bits) + 1) for each in combinations(bits, size)]
    return {chosen: float(records[:, sorted(chosen)].all(axis=1).mean()) for chosen in sets}


@pytest.mark.parametrize("bits", [1, 2, 3, 5])
def test_parities_follow_from_conjunctions(bits):
    generator = np.random.default_rng(bits)
    records = generator.integers(0, 2, (37, bits))
    shares = conjunctions(records)
    parity = float((records.sum(axis=1) % 2).mean())
    chosen = frozenset(range(bits))
    assert local.parity_from_conjunctions(shares, chosen) == pytest.approx(parity)
    # The worst errors of size alpha have the signs of the coefficients, and reach the factor exactly.
    wrong = {each: share + 0.01 * (-1) ** (len(each) - 1) for each, share in shares.items()}
    assert local.parity_from_conjunctions(wrong, chosen) - parity == pytest.approx(0.01 * local.loss_factor(bits))


def test_any_two_parities_are_uncorrelated():
    """Observation 35: over uniform bits every set of parities has its own size as statistical-query dimension."""
    every = np.array([[number >> bit & 1 for bit in range(4)] for number in range(16)])
    values = [every[:, sorted(chosen)].sum(axis=1) % 2 for chosen in conjunctions(every)]
    assert len(values) == local.parities(4, 4) == 15
    for one, other in combinations(values, 2):
        assert (one == other).mean() == 0.5


def test_sizes_of_the_theorems():
    bound = local.StatisticalQueryBound(dimension=4096)
    assert (bound.tolerance, bound.queries) == (pytest.approx(1 / 16), pytest.approx(8))
    assert bound.error < 0.5
    assert local.parities(20, 3) == 20 + 190 + 1140
    assert local.hidden_parity(0.25) == 1
    assert (
        local.parity_error(local.hidden_parity(0.001), 0.001)
        <= 0.25
        < local.parity_error(local.hidden_parity(0.001) + 1, 0.001)
    )
    # The smaller the error, the more queries, and faster than any fixed power of the bits.
    found = [local.conjunction_queries(1_000, error) for error in (0.2, 0.05, 0.01, 0.001)]
    assert found == sorted(found) and found[-1] > 1_000
    assert local.conjunction_queries(3, 0.2) == 0


def test_refusals():
    for call in (
        lambda: local.loss_factor(0),
        lambda: local.loss_factor(10_001),
        lambda: local.parity_error(2, -1.0),
        lambda: local.StatisticalQueryBound(dimension=15),
        lambda: local.hidden_parity(0.3),
    ):
        with pytest.raises(BadParameter):
            call()
