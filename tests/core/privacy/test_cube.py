"""Noise for many numbers at once: its law, the proof of its privacy in numbers, and known answers."""

from __future__ import annotations

import hashlib
import itertools
import math
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from core.privacy import cube, samplers
from tests.privacy.kit.laws import RIGHT, WRONG, cube_draws, cube_fit, cube_logs


def losses(count: int, rate: str, margin: int, most: int = 40) -> list[Decimal]:
    """ln f(j)/f(j + 1) for the law of so many numbers, with many digits."""
    with localcontext(Context(prec=40)):
        fall = (-Decimal(rate)).exp()
        last = most + math.ceil(Decimal(80 + 3 * count) / Decimal(rate))
        sums, total = [], Decimal(0)
        for far in range(last, -1, -1):
            total += math.comb(far + count, count) * fall**far / Decimal(2 * far + 2 * margin + 1) ** count
            sums.append(total)
        found = sums[::-1][: most + 1]
        return [(near / farther).ln() for near, farther in itertools.pairwise(found)]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 20, 91])
@pytest.mark.parametrize("rate", ["0.4", "3"])
def test_a_vector_one_larger_is_no_less_likely_than_promised(count: int, rate: str) -> None:
    found = losses(count, rate, cube.margin(count))
    assert min(found) >= 0
    assert max(found) <= Decimal(rate) * (1 + Decimal("1e-25"))


@pytest.mark.parametrize(("count", "margin"), [(2, 0), (3, 1)])
def test_with_a_smaller_margin_it_would_be(count: int, margin: int) -> None:
    """So the margin is the smallest that does, but for halves."""
    assert max(losses(count, "0.7", margin)) > Decimal("0.7")


def test_margins() -> None:
    assert [cube.margin(count) for count in (1, 2, 3, 4, 91)] == [1, 1, 2, 2, 46]


@pytest.mark.parametrize(("count", "scale"), [(1, 3), (3, Fraction(22, 7)), (91, 1092)])
def test_the_largest_number_has_its_law(count: int, scale: Fraction) -> None:
    draws = cube_draws(Fraction(scale), count, 2_000)
    assert cube_fit(draws, float(scale)) > RIGHT
    assert cube_fit(draws, float(scale) * 2) < WRONG


def test_all_vectors_of_a_size_are_as_likely() -> None:
    draws = cube_draws(Fraction(2, 3), 2, 8_000)
    grid = np.stack(np.meshgrid(*[np.arange(-3, 4)] * 2), axis=-1).reshape(-1, 2)
    largest = np.abs(grid).max(axis=1)
    logs = cube_logs(2, 2 / 3, 400, 1)
    every = np.arange(1, 400)
    whole = 1 * np.exp(logs[0]) + (8 * every * np.exp(logs[np.maximum(every - 1, 0)])).sum()
    expected = np.exp(logs[np.maximum(largest - 1, 0)]) / whole * len(draws)
    observed = np.array([(draws == place).all(axis=1).sum() for place in grid])
    rest = len(draws) - observed.sum()
    assert stats.chisquare([*observed, rest], [*expected, len(draws) - expected.sum()]).pvalue > RIGHT


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(22, 7), Fraction(50)])
def test_sizes_are_geometric(scale: Fraction) -> None:
    drawn = cube.sizes(20_000, scale.numerator, scale.denominator)
    fall = math.exp(-1 / scale)
    cells = np.arange(int(4 * scale) + 2)
    expected = [*(fall**cells * (1 - fall)), fall ** len(cells)]
    observed = np.bincount(np.minimum(drawn, len(cells)).astype(int), minlength=len(cells) + 1)
    assert stats.chisquare(observed, np.array(expected) * len(drawn)).pvalue > RIGHT


@pytest.mark.parametrize(("count", "scale"), [(1, 4.0), (5, 0.3), (91, 100.0)])
def test_the_deviation_is_that_of_what_is_drawn(count: int, scale: float) -> None:
    drawn = cube_draws(Fraction(str(scale)), count, 1_000)
    assert cube.deviation(count, scale) == pytest.approx(drawn.std(), rel=0.05)


def test_deviations_by_hand() -> None:
    """One number at rate ln 2: R has mean 2 and variance 4, so the half width R + 1 has the mean square 13."""
    assert cube.deviation(1, 1 / math.log(2)) == pytest.approx(math.sqrt((13 + 3) / 3), rel=1e-12)
    assert cube.deviation(91, 1e6) == pytest.approx(1e6 * math.sqrt(92 * 93 / 3), rel=1e-4)


KNOWN = {
    (1, Fraction(1, 3)): "4fbe34b4fce81821",
    (3, Fraction(22, 7)): "9ad1739c00f06bde",
    (91, Fraction(10**6)): "c426757b04f8eb60",
    (400, Fraction(2**60 + 3, 2**20)): "bb759e244bbd2fc9",
    (5, Fraction(2**61)): "7449da7382aa04cf",
    (4, Fraction(1, 2**62)): "27026acc003c6a0a",
}


@pytest.mark.parametrize(("count", "scale"), KNOWN)
def test_known_answers(count: int, scale: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    source = np.random.PCG64(20)
    monkeypatch.setattr(samplers, "words", lambda number: source.random_raw(number))
    told = ",".join(str(int(number)) for _ in range(10) for number in cube.cube(count, scale))
    told += f";{source.random_raw()}"
    assert hashlib.sha256(told.encode()).hexdigest()[:16] == KNOWN[count, scale]


def test_nothing_is_drawn_for_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samplers, "words", None)
    nothing = cube.cube(0, Fraction(3))
    assert nothing.dtype == np.int64 and not nothing.size
