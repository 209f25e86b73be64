"""Counts of paths, against listing all of them and against whole numbers."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations_with_replacement
from types import SimpleNamespace

import numpy as np
import pytest

from core.base.errors import Refused
from core.kernel.databases import bands
from core.kernel.databases.bands import MOST_BITS, SEGMENT, Band, check_platform, has_extended, whole


def every_path(cells: int, rows: int) -> list[np.ndarray]:
    """Y(j) for 0 < j < N of every database."""
    chosen = combinations_with_replacement(range(cells), rows)
    return [np.cumsum(np.bincount(each, minlength=cells))[:-1] for each in chosen]


def random_band(generator, cells: int, rows: int) -> Band:
    low = np.sort(generator.integers(0, rows + 1, cells - 1))
    high = np.minimum(rows, low + np.maximum.accumulate(generator.integers(0, rows + 1, cells - 1)))
    return Band(np.maximum(0, low - 1), np.maximum.accumulate(high), rows)


def test_other_floats_are_refused(monkeypatch):
    """This machine has the right ones; numbers with fewer digits, or that end earlier, would break the bounds."""
    assert has_extended()
    check_platform()
    for digits, largest in ((52, 16384), (112, 16384), (63, 1024)):
        monkeypatch.setattr(bands, "_INFO", SimpleNamespace(nmant=digits, maxexp=largest))
        assert not has_extended()
        with pytest.raises(Refused, match="extended floating point"):
            check_platform()


@pytest.mark.parametrize(("cells", "rows"), [(1, 3), (2, 4), (4, 3), (5, 5)])
def test_counts_are_those_of_a_list(cells, rows):
    generator = np.random.default_rng()
    paths = every_path(cells, rows)
    for _ in range(30):
        band = random_band(generator, cells, rows)
        inside = sum(band.holds(path) for path in paths)
        assert band.exact_count() == inside == whole(band.count)
        assert band.empty == (inside == 0)


def test_a_band_whose_edges_cross_holds_nothing():
    crossed = Band(np.array([0, 2]), np.array([1, 1]), 3)
    assert crossed.empty and crossed.exact_count() == 0 == whole(crossed.count)
    assert not any(crossed.holds(path) for path in every_path(3, 3))


def test_long_bands_agree_with_whole_numbers_to_within_the_slack():
    """Beyond one segment, and with numbers far above 2^64."""
    generator = np.random.default_rng()
    for cells, rows in ((2 * SEGMENT + 7, 40), (60, 700)):
        band = random_band(generator, cells, rows)
        exact = band.exact_count()
        assert exact > 2**64
        assert abs(whole(band.count) - exact) <= band.slack * exact
        place = SEGMENT + 5 if cells > SEGMENT else 30
        start = place // SEGMENT * SEGMENT
        row = band.segment(start, place + 1)[place]
        for found, right in zip(row, band.exact_row(place), strict=True):
            assert abs(whole(found) - right) <= band.slack * right
    everything = Band(np.zeros(99, dtype=np.int64), np.full(99, 50), 50)
    assert everything.exact_count() == math.comb(149, 50)


def test_the_largest_size_fits():
    """2^16 cells and 2,150 rows are 2^13745 databases; sums and products of a few such counts still have a value."""
    assert MOST_BITS == 16_000
    assert np.isfinite(np.ldexp(np.longdouble(1), MOST_BITS) * 2**64 * 2**64)


def test_the_slack_is_eight_times_what_is_proved():
    """(1 + u)^(N + m) for a count, u = 2^-64, and as much again for what is done with it."""
    for cells, rows in ((1, 1), (3, 5), (70, 900)):
        edges = np.zeros(cells - 1, dtype=np.int64)
        assert Band(edges, edges, rows).slack == Fraction(8 * (cells + rows + 8), 2**64)


def test_extended_numbers_become_whole_ones_exactly():
    for number in (0, 1, 7, 2**62, 2**63 + 1, 2**64 - 1, (2**64 - 1) << 300):
        assert whole(np.longdouble(2) ** 0 * np.ldexp(np.longdouble(number >> 300), 300) if number > 2**64 else
                     np.longdouble(number)) == number  # fmt: skip
