from __future__ import annotations

from itertools import combinations

import numpy as np

from core.models.drawing import balancing
from core.models.drawing.balancing import balanced
from core.models.drawing.rounding import systematic
from core.schema.domain import Domain, Integers
from tests.core.samples import SMALL


def weighted(columns: int = 6, cells: int = 8, records: int = 6_000) -> tuple[Domain, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    common = generator.integers(0, cells, records)
    codes = np.stack(
        [
            (common * generator.integers(0, 2, records) + generator.integers(0, 3, records)) % cells
            for _ in range(columns)
        ],
        axis=1,
    )
    domain = Domain(tuple(Integers(name=f"c{place}", low=0, high=cells - 1) for place in range(columns)))
    return domain, codes, generator.gamma(2.0, 0.125, records)


def apart(domain: Domain, codes: np.ndarray, shares: np.ndarray, taken: np.ndarray) -> float:
    sizes, sums = domain.shape(), 0.0
    for left, right in combinations(range(len(sizes)), 2):
        flat = codes[:, left] * sizes[right] + codes[:, right]
        sums += float(np.abs(np.bincount(flat, weights=taken - shares)).sum())
    return sums


def squares(domain: Domain, codes: np.ndarray, shares: np.ndarray, taken: np.ndarray) -> float:
    sizes, sums = domain.shape(), 0.0
    for left, right in combinations(range(len(sizes)), 2):
        flat = codes[:, left] * sizes[right] + codes[:, right]
        off, wanted = np.bincount(flat, weights=taken - shares), np.bincount(flat, weights=shares)
        sums += float((off**2 / (wanted + 1)).sum())
    return sums


def rounded(shares: np.ndarray, seed: int = 1) -> np.ndarray:
    return systematic(shares, round(float(shares.sum())), np.random.default_rng(seed))


def test_all_pairs_come_nearer_and_each_record_keeps_its_share_rounded():
    domain, codes, weights = weighted()
    shares = weights * (1_500 / weights.sum())
    first = rounded(shares)
    taken = balanced(domain, codes, shares, first, np.random.default_rng(2))
    assert taken.sum() == first.sum() == 1_500
    assert (taken >= np.floor(shares)).all() and (taken <= np.ceil(shares)).all()
    assert apart(domain, codes, shares, taken) < 0.4 * apart(domain, codes, shares, first)


def test_small_tables_are_never_made_worse():
    generator = np.random.default_rng(3)
    codes = np.stack([generator.integers(0, size, 5_000) for size in SMALL.shape()], axis=1)
    shares = generator.random(5_000)
    shares *= 2_000 / shares.sum()
    first = rounded(shares)
    taken = balanced(SMALL, codes, shares, first, generator)
    assert apart(SMALL, codes, shares, taken) <= apart(SMALL, codes, shares, first) + 1e-6


def test_exchanges_are_made_only_where_the_sum_of_weighted_squares_falls():
    domain, codes, weights = weighted(columns=4)
    balance = balancing.Balance(domain, codes, np.random.default_rng(0))
    taken = rounded(weights)
    balance.count(weights, taken)
    generator = np.random.default_rng(4)
    made = []
    for _ in range(60):
        old, new = generator.choice(np.flatnonzero(taken), 8, replace=False), generator.choice(len(codes), 8)
        before, off = squares(domain, codes, weights, taken), balance.off.copy()
        moved = taken.copy()
        np.subtract.at(moved, old, 1)
        np.add.at(moved, new, 1)
        made.append(balance.exchange(balance.places(old), balance.places(new)))
        assert made[-1] == (squares(domain, codes, weights, moved) <= before)
        if made[-1]:
            taken = moved
        else:
            np.testing.assert_allclose(balance.off, off, atol=1e-9)
    assert 5 < sum(made) < 55


def test_two_columns_whole_shares_and_large_tables_are_left_alone():
    domain, codes, weights = weighted(columns=2)
    taken = rounded(weights)
    assert balanced(domain, codes, weights, taken, np.random.default_rng(0)) is taken
    domain, codes, weights = weighted(columns=3)
    ones = np.ones(len(codes))
    taken = ones.astype(np.int64)
    assert balanced(domain, codes, ones, taken, np.random.default_rng(0)) is taken
    domain, codes, weights = weighted(columns=3, cells=100, records=500)
    taken = rounded(weights)
    assert balanced(domain, codes, weights, taken, np.random.default_rng(0)) is taken


def test_of_many_pairs_some_are_looked_at(monkeypatch):
    monkeypatch.setattr(balancing, "MOST_PAIRS", 3)
    domain, codes, weights = weighted()
    first = rounded(weights)
    taken = balanced(domain, codes, weights, first, np.random.default_rng(2))
    assert taken.sum() == first.sum()
    assert not np.array_equal(taken, first)


def test_tables_together_stay_within_the_limit(monkeypatch):
    monkeypatch.setattr(balancing, "MOST_CELLS", 100)
    domain, codes, _ = weighted()
    assert balancing.Balance(domain, codes, np.random.default_rng(0)).tables == 1
