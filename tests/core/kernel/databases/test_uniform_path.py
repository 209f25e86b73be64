"""Every path of a band is as likely as any other: word by word against whole numbers, also where floats fail."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import accumulate, product

import numpy as np
import pytest

from core.kernel.databases import bands, uniform_path
from core.kernel.databases.bands import Band
from core.kernel.databases.uniform_path import draw_path, exact_step
from core.privacy.noise import Noise
from tests.core.kernel.databases.test_bands import every_path, random_band

ALL = 2**64


class Given:
    """Words that a test chooses; further ones are 0."""

    def __init__(self, words):
        self.words = list(words)

    def keys(self, count):
        taken = [self.words.pop(0) if self.words else 0 for _ in range(count)]
        return np.array(taken, dtype=np.uint64)


class Untouched:
    """No word at all."""

    def keys(self, count):
        raise AssertionError("a word was drawn that nothing needs")


BAND = Band(np.array([0, 1]), np.array([2, 3]), 3)
"""Y(1) from 0 to 2 and Y(2) from 1 to 3."""


def right_place(weights: list[int], words: list[int]) -> int:
    """The weight in which a uniform number with these digits falls."""
    drawn = sum(Fraction(word, ALL**place) for place, word in enumerate(words, 1))
    return sum(total <= drawn * sum(weights) for total in accumulate(weights))


@pytest.mark.parametrize("loose", [False, True], ids=["floats", "whole numbers"])
def test_every_path_has_the_same_share_of_all_words(loose, monkeypatch):
    """Middles of equal parts of all words, for both steps."""
    if loose:
        monkeypatch.setattr(Band, "slack", property(lambda band: 1.0))
    parts = 24
    middles = [(2 * place + 1) * 2**63 // parts for place in range(parts)]
    found = Counter(tuple(draw_path(BAND, Given(words)).tolist()) for words in product(middles, repeat=2))
    paths = [tuple(path.tolist()) for path in every_path(3, 3) if BAND.holds(path)]
    # 8 paths: 3 with Y(2) = 3, 3 with 2, 2 with 1; 24 is a multiple of 8, 3 and 2.
    assert found == dict.fromkeys(paths, parts**2 // len(paths))


def test_more_digits_are_drawn_where_a_word_does_not_decide():
    """A third of all words is no whole number of them: the word at its edge decides by the next one, and so on."""
    third = ALL // 3
    for weights in ([1, 2], [3, 4, 2], [1, 1, 1]):
        for first, second, last in product((third - 1, third, third + 1), repeat=3):
            words = [first, second, last, ALL - 1]
            given = Given(words[1:])
            assert exact_step(weights, first, given) == right_place(weights, words)
            # Only a third itself leaves it open.
            used = 3 - len(given.words)
            assert used == (0 if first != third else 1 if second != third else 2 if last != third else 3)
    assert exact_step([1, 1], ALL // 2, Untouched()) == 1, "an edge that is a word belongs to what is above it"
    assert exact_step([1, 1], ALL // 2 - 1, Untouched()) == 0


@pytest.mark.parametrize("edge", [1, 2, 3])
def test_whole_numbers_take_over_within_four_times_the_slack(edge, monkeypatch):
    """On either side of where one of four equal weights ends, at k/4 of all words: 4 x 8 (N + m + 8) 2^-64 of it."""
    asked = []
    real = uniform_path.exact_step
    monkeypatch.setattr(uniform_path, "exact_step", lambda *given: asked.append(1) or real(*given))
    four = Band(np.array([0]), np.array([3]), 3)
    middle, near = edge * ALL // 4, edge * 8 * (2 + 3 + 8)
    for step, unsure in (
        (near, False),
        (near - 1, True),
        (0, True),
        (-near, True),
        (-near - 1, False),
        (-middle, False),
        (ALL - 1 - middle, False),
    ):
        asked.clear()
        found = draw_path(four, Given([middle + step])).tolist()
        assert found == [(middle + step) * 4 // ALL]
        assert bool(asked) == unsure, step


def slow_path(band: Band, words: list[int]) -> list[int]:
    """Step by step in whole numbers; no step of these words needs more digits."""
    path, above = [0] * (band.cells - 1), band.rows
    for place in range(band.cells - 1, 0, -1):
        low, high = band.edges(place)
        weights = band.exact_row(place)[: min(above, high) - low + 1]
        above = low + right_place(weights, [words[place - 1]])
        path[place - 1] = above
    return path


@pytest.mark.parametrize("cells", [1, 2, 4, 5, 6, 9, 10, 12])
def test_paths_are_those_of_whole_numbers_across_segments(cells, monkeypatch):
    for module in (bands, uniform_path):
        monkeypatch.setattr(module, "SEGMENT", 4)
    generator = np.random.default_rng(cells)
    for _ in range(12):
        band = random_band(generator, cells, 6)
        if band.empty:
            continue
        words = [int(word) for word in generator.integers(0, ALL, cells - 1, dtype=np.uint64)]
        assert draw_path(band, Given(words)).tolist() == slow_path(band, words)


def test_long_paths_stay_in_their_band():
    generator = np.random.default_rng()
    middle = np.sort(generator.integers(0, 30, 599))
    band = Band(np.maximum(middle - 4, 0), np.minimum(middle + 3, 30), 30)
    for _ in range(5):
        path = draw_path(band, Noise())
        assert band.holds(path) and (np.diff(path) >= 0).all()
