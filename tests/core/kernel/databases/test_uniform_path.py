"""Every path of a band is as likely as any other: by all words of a coarse grid, and where floats do not decide."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest

from core.kernel.databases import uniform_path
from core.kernel.databases.bands import Band
from core.kernel.databases.uniform_path import draw_path, exact_step
from core.privacy.noise import Noise
from tests.core.kernel.databases.test_bands import every_path


class Given:
    """Words that a test chooses; further ones are 0."""

    def __init__(self, words):
        self.words = list(words)

    def keys(self, count):
        taken = [self.words.pop(0) if self.words else 0 for _ in range(count)]
        return np.array(taken, dtype=np.uint64)


BAND = Band(np.array([0, 1]), np.array([2, 3]), 3)
"""Y(1) from 0 to 2 and Y(2) from 1 to 3."""


@pytest.mark.exhaustive
@pytest.mark.parametrize("loose", [False, True], ids=["floats", "whole numbers"])
def test_every_path_has_the_same_share_of_all_words(loose, monkeypatch):
    """Middles of equal parts of all words, for both steps."""
    if loose:
        monkeypatch.setattr(Band, "slack", property(lambda band: 1.0))
    parts = 60 if loose else 120
    middles = [(2 * place + 1) * 2**63 // parts for place in range(parts)]
    found = Counter(tuple(draw_path(BAND, Given(words)).tolist()) for words in product(middles, repeat=2))
    paths = [tuple(path.tolist()) for path in every_path(3, 3) if BAND.holds(path)]
    assert set(found) == set(paths)
    # 8 paths: 3 with Y(2) = 3, 3 with 2, 2 with 1. 120 and 60 are no multiple of 8, so one part in 60 may be off.
    assert max(found.values()) - min(found.values()) <= parts**2 / len(paths) / 8


def test_more_digits_are_drawn_where_a_word_does_not_decide():
    """A third of all words is no whole number of them: the word at its edge decides by the next one."""
    edge = 2**64 // 3
    assert exact_step([1, 2], edge, Given([0])) == 0
    assert exact_step([1, 2], edge, Given([2**64 - 1])) == 1
    assert exact_step([1, 2], edge - 1, Given([])) == 0
    assert exact_step([1, 2], edge + 1, Given([])) == 1


def test_the_edges_of_a_step_go_to_whole_numbers(monkeypatch):
    """A word next to an edge is not decided by floats."""
    asked = []
    real = uniform_path.exact_step
    monkeypatch.setattr(uniform_path, "exact_step", lambda *given: asked.append(1) or real(*given))
    two = Band(np.array([0]), np.array([2]), 2)
    assert draw_path(two, Given([2**64 // 3])).tolist() in ([0], [1]) and asked
    asked.clear()
    assert draw_path(two, Given([2**63])).tolist() == [1] and not asked


def test_long_paths_stay_in_their_band():
    generator = np.random.default_rng()
    middle = np.sort(generator.integers(0, 30, 599))
    band = Band(np.maximum(middle - 4, 0), np.minimum(middle + 3, 30), 30)
    for _ in range(5):
        path = draw_path(band, Noise())
        assert band.holds(path) and (np.diff(path) >= 0).all()
