"""The law of a draw by levels, whatever levels are counted."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pytest

from core.kernel.databases import levels
from core.kernel.databases.bands import Band
from core.kernel.databases.levels import BandLevels
from core.privacy.noise import Noise
from tests.core.kernel.databases.test_bands import every_path
from tests.core.kernel.databases.test_uniform_path import Given

DRAWS = 500


def made(rate: Fraction) -> BandLevels:
    """All databases of 3 rows over 3 cells, by how far Y is from (1, 2)."""

    def band(level: int) -> Band:
        middle = np.array([1, 2])
        return Band(np.maximum(middle - level, 0), np.minimum(middle + level, 3), 3)

    return BandLevels(band=band, least=0, most=2, rate=rate)


def level_of(path) -> int:
    return int(np.abs(path - np.array([1, 2])).max())


class Chosen:
    """A coin that falls as wished, and what it was asked."""

    def __init__(self, falls: list[bool]) -> None:
        self.falls, self.exponents = falls, list[Fraction]()

    def coin(self, exponent: Fraction) -> bool:
        self.exponents.append(exponent)
        return self.falls.pop(0)


@pytest.mark.parametrize("grid", [[0, 2], [0, 1, 2], [1, 2], [2]], ids=str)
def test_every_path_is_kept_so_that_the_law_is_right(grid, monkeypatch):
    """Without chance: a level with its exact probability, each of its paths alike, kept with the coin's probability.

    The sum over all levels is in proportion to exp(-rate k) to 25 digits, whatever levels are counted."""
    rate = Fraction(2, 3)
    ours = replace(made(rate), least=grid[0])
    monkeypatch.setattr(ours, "_grid", lambda: grid)
    inside = [path for path in every_path(3, 3) if ours.band(2).holds(path)]
    digits = Context(prec=70)
    law = dict.fromkeys((tuple(path.tolist()) for path in inside), Decimal(0))
    for place, share in enumerate(ours._shares(grid, digits)):
        for path in inside:
            if ours.band(grid[place]).holds(path):
                coin = Chosen([True])
                monkeypatch.setattr(ours, "_pick", lambda given, coins, place=place: place)
                monkeypatch.setattr(levels, "draw_path", lambda band, coins, path=path: path)
                assert ours.draw(lambda found: max(level_of(found), grid[0]), coin) is path
                (exponent,) = coin.exponents
                assert exponent >= 0
                kept = digits.exp(-digits.divide(Decimal(exponent.numerator), Decimal(exponent.denominator)))
                law[tuple(path.tolist())] += share * kept
    for path, weight in law.items():
        level = max(level_of(np.array(path)), grid[0])
        wanted = digits.exp(digits.divide(Decimal(2 * (grid[0] - level)), Decimal(3)))
        assert abs(weight / wanted - 1) < Decimal("1e-25")


def test_what_is_not_kept_is_drawn_again(monkeypatch):
    ours, places = made(Fraction(2, 3)), [2, 1]
    monkeypatch.setattr(ours, "_pick", lambda grid, coins: places.pop(0))
    monkeypatch.setattr(levels, "draw_path", lambda band, coins: band.high)
    monkeypatch.setattr(ours, "_grid", lambda: [0, 1, 2])
    found = ours.draw(level_of, Chosen([False, True]))
    assert found.tolist() == [2, 3] and not places


@pytest.mark.exhaustive
def test_paths_have_the_probability_that_they_should():
    """Chi-square of 10 databases stays below 40 but for one run in 100,000."""
    rate = Fraction(2, 3)
    found = Counter(tuple(made(rate).draw(level_of, Noise()).tolist()) for _ in range(DRAWS))
    law = {tuple(path.tolist()): math.exp(-rate * level_of(path)) for path in every_path(3, 3)}
    whole = sum(law.values())
    parts = [(found[path], DRAWS * weight / whole) for path, weight in law.items()]
    assert sum((seen - wanted) ** 2 / wanted for seen, wanted in parts) < 40


@pytest.mark.parametrize("exact", [False, True])
def test_levels_are_picked_in_proportion(exact):
    """Against W c worked out by hand: every word of a grid falls where the sums say."""
    ours = made(Fraction(1))
    grid = [0, 1, 2]
    sizes = [ours._counted(level).exact_count() for level in grid]
    assert sizes == [1, 8, 10]
    masses = [1 * (1 - math.exp(-1)), 8 * (math.exp(-1) - math.exp(-2)), 10 * math.exp(-2)]
    edges = np.cumsum(masses) / sum(masses)
    for place in range(200):
        word = (2 * place + 1) * 2**63 // 200
        assert ours._decided(grid, word, 64, exact) == np.searchsorted(edges, word / 2**64)


def edge_of(digits: int) -> int:
    """Where the masses of the first level end, in so many binary digits."""
    context = Context(prec=120)
    one, two = (context.exp(Decimal(-power)) for power in (1, 2))
    # 1 - 1/e of 1 + 7/e + 2/e^2: the masses 1 (1 - 1/e), 8 (1/e - 1/e^2) and 10/e^2 together.
    first = context.subtract(Decimal(1), one)
    total = context.add(Decimal(1), context.add(context.multiply(7, one), context.multiply(2, two)))
    return int(context.multiply(context.divide(first, total), Decimal(2**digits)))


def test_words_within_four_times_the_slack_are_not_trusted():
    """N + m + 8 = 14, so the slack is 112 words of all; four times it, of the share of the level, on either side."""
    ours, grid, edge = made(Fraction(1)), [0, 1, 2], edge_of(64)
    unsure = [step for step in range(-200, 201) if ours._decided(grid, edge + step, 64, False) is None]
    exactly, sure = Fraction(edge_of(192), 2**128), 1 + Fraction(4 * 112, 2**64)
    assert unsure == [
        step for step in range(-200, 201) if edge + step < exactly * sure and exactly < (edge + step + 1) * sure
    ]
    assert 100 < len(unsure) < 200


def test_a_word_at_an_edge_is_decided_by_the_next_ones():
    ours, grid, edge = made(Fraction(1)), [0, 1, 2], edge_of(192)
    for step in (-1, 1):
        word = edge + step
        words = [word >> 128, (word >> 64) % 2**64, word % 2**64]
        given = Given(words)
        assert ours._pick(grid, given) == (step > 0) and not given.words
    for word, place in ((edge_of(64) - 10**6, 0), (edge_of(64) + 10**6, 1), (2**64 - 1, 2), (0, 0)):
        given = Given([word, 7])
        assert ours._pick(grid, given) == place and given.words == [7], "no more words than are needed"


def test_a_shift_of_all_levels_changes_no_share():
    """Exponentials are taken from the narrowest band on, so that none is too small to hold."""
    near, far = made(Fraction(1, 3)), replace(made(Fraction(1, 3)), least=10**9, most=10**9 + 2)
    context = Context(prec=60)
    for one, two in zip(near._shares([0, 1, 2], context), far._shares([10**9, 10**9 + 1, 10**9 + 2], context),
                        strict=True):  # fmt: skip
        assert one == two
