"""The law of a draw by levels, whatever levels are counted."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from core.kernel.databases import levels
from core.kernel.databases.bands import Band
from core.kernel.databases.levels import BandLevels
from core.privacy.noise import Noise
from tests.core.kernel.databases.test_bands import every_path
from tests.core.kernel.databases.test_uniform_path import Given

DRAWS = 1_200


def made(rate: Fraction) -> BandLevels:
    """All databases of 3 rows over 3 cells, by how far Y is from (1, 2)."""

    def band(level: int) -> Band:
        middle = np.array([1, 2])
        return Band(np.maximum(middle - level, 0), np.minimum(middle + level, 3), 3)

    return BandLevels(band=band, least=0, most=2, rate=rate)


def level_of(path) -> int:
    return int(np.abs(path - np.array([1, 2])).max())


@pytest.mark.exhaustive
@pytest.mark.parametrize("counted", [1, 60])
def test_paths_have_the_probability_that_they_should(counted, monkeypatch):
    """Chi-square of 10 databases stays below 40 but for one run in 100,000, with few levels counted and with all."""
    monkeypatch.setattr(levels, "MOST_COUNTED", counted)
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


def test_a_word_at_an_edge_asks_for_more():
    ours, grid = made(Fraction(1)), [0, 1, 2]
    masses = [1 * (1 - math.exp(-1)), 8 * (math.exp(-1) - math.exp(-2)), 10 * math.exp(-2)]
    edge = int(masses[0] / sum(masses) * 2**64)
    near = [word for word in range(edge - 3_000, edge + 3_000, 20) if ours._decided(grid, word, 64, False) is None]
    assert near, "no float is trusted at the edge itself"
    assert ours._pick(grid, Given([near[0], 0, 0])) in (0, 1)
