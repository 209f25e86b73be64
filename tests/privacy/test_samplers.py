"""The samplers in a million draws each: against their laws, and beside those of opendp.

A scale that is 2 % wrong is told apart beyond any doubt.
"""

from __future__ import annotations

from decimal import Context, Decimal, localcontext
from fractions import Fraction
from types import ModuleType

import numpy as np
import pytest
from scipy import stats

from core.privacy import samplers
from core.privacy.normal import normal_tail
from core.privacy.samplers import words
from tests.privacy.kit.laws import (
    RIGHT,
    WRONG,
    gaussian_draws,
    gaussian_fit,
    laplace_draws,
    laplace_fit,
    same_law,
    selections,
    zeros,
)

MILLION = 10**6
THEIRS = 750_000
"""Beside a law these tell as much as a million beside three million draws."""
SMALLER = Fraction(98, 100)
LAPLACE = [Fraction(2, 5), Fraction(1), Fraction(22, 7), Fraction(10), Fraction(200), Fraction(1000)]
GAUSSIAN = [Fraction(1, 3), Fraction(1, 2), Fraction(1), Fraction(22, 7), Fraction(10), Fraction(200), Fraction(1000)]


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=1)
@pytest.mark.parametrize("scale", LAPLACE)
def test_laplace_has_its_law_and_the_test_sees_two_percent(scale: Fraction) -> None:
    assert laplace_fit(laplace_draws(scale, MILLION), scale) > RIGHT
    assert laplace_fit(laplace_draws(scale * SMALLER, MILLION), scale) < WRONG


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=1)
@pytest.mark.parametrize("sigma", GAUSSIAN)
def test_gaussian_has_its_law_and_the_test_sees_two_percent(sigma: Fraction) -> None:
    assert gaussian_fit(gaussian_draws(sigma, MILLION), sigma) > RIGHT
    assert gaussian_fit(gaussian_draws(sigma * SMALLER, MILLION), sigma) < WRONG


@pytest.mark.exhaustive
@pytest.mark.parametrize("sigma", [Fraction(1, 4), Fraction(22, 7), Fraction(1000)])
def test_gaussian_noise_is_symmetric(sigma: Fraction) -> None:
    draws = gaussian_draws(sigma, MILLION)
    assert same_law(draws[::2], -draws[1::2]) > RIGHT
    assert stats.binomtest(int((draws > 0).sum()), int((draws != 0).sum())).pvalue > RIGHT


@pytest.mark.exhaustive
@pytest.mark.parametrize("sigma", [Fraction(1, 3), Fraction(1), Fraction(22, 7), Fraction(10**9)])
def test_what_floats_leave_open_is_settled_by_the_same_law(sigma: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every draw settled with decimals: on the same words it is the draw that floats decided, and has the law."""
    count, variance = 2_000, sigma**2
    kept = samplers.words(count)
    monkeypatch.setattr(samplers, "words", lambda asked: kept[:asked] if asked > 1 else words(asked))
    decided = samplers.gaussian(count, variance.numerator, variance.denominator)
    monkeypatch.setattr(samplers, "_UNCLEAR", 2.0)
    settled = samplers.gaussian(count, variance.numerator, variance.denominator)
    assert (decided == settled).all()
    if sigma < 100:
        assert gaussian_fit(settled, sigma) > RIGHT


@pytest.mark.parametrize("edge", ["0.5", "2.5", "7.5"])
@pytest.mark.parametrize("off", ["-5e-13", "0", "5e-13"])
def test_what_lies_on_an_edge_or_near_it_is_left_open(edge: str, off: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Floats are right to some sixteen digits, and the first 63 bits of a number may go on to either side."""
    with localcontext(Context(prec=60)):
        bits = int(normal_tail(Decimal(edge)) * (1 + Decimal(off)) * 2**64)
    opened: list[int] = []
    monkeypatch.setattr(samplers, "words", lambda count: np.full(count, bits << 1, dtype=np.uint64))
    monkeypatch.setattr(samplers, "_settled", lambda first, *_: opened.append(first) or 0)
    samplers._rounded(1, Fraction(1))
    assert opened == [bits]


def test_a_number_on_an_edge_reads_more_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """63 bits that agree with those of an edge decide nothing; what follows them does."""
    with localcontext(Context(prec=60)):
        edge = int(normal_tail(Decimal("0.5")) * 2**64)
    for following, expected in ((0, 1), (2**64 - 1, 0)):
        asked: list[int] = []

        def more(count: int, following: int = following, asked: list[int] = asked) -> np.ndarray:
            asked.append(count)
            return np.array([following], dtype=np.uint64)

        monkeypatch.setattr(samplers, "words", more)
        assert samplers._settled(edge, 0, Fraction(1)) == expected
        assert asked == [1]


def test_deep_tails_are_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    """63 zero bits lie eight deviations out: the size is settled from the bits that follow, not cut off."""
    monkeypatch.setattr(samplers, "words", lambda count: np.array([12345678901234567], dtype=np.uint64))
    size = samplers._settled(0, 0, Fraction(1))
    assert 9 < size < 14


@pytest.fixture(scope="module")
def opendp() -> ModuleType:
    opendp = pytest.importorskip("opendp.prelude")
    opendp.enable_features("contrib")
    return opendp


def laplace_of(opendp: ModuleType, scale: float, count: int) -> np.ndarray:
    space = opendp.vector_domain(opendp.atom_domain(T="i64")), opendp.l1_distance(T="i64")
    return np.array(opendp.m.make_laplace(*space, scale)(zeros(count)))


def gaussian_of(opendp: ModuleType, sigma: float, count: int) -> np.ndarray:
    space = opendp.vector_domain(opendp.atom_domain(T="i64")), opendp.l2_distance(T="i64")
    return np.array(opendp.m.make_gaussian(*space, sigma)(zeros(count)))


class TestBesideOpendp:
    """Few of their draws, because they are slow, tell a fifth apart; many, in the slow set, tell 2 % apart."""

    @pytest.mark.exhaustive
    def test_laplace(self, opendp: ModuleType) -> None:
        theirs = laplace_of(opendp, 5.0, 60_000)
        assert same_law(laplace_draws(Fraction(5), 300_000), theirs) > RIGHT
        assert same_law(laplace_draws(Fraction(6), 300_000), theirs) < WRONG

    @pytest.mark.exhaustive
    def test_gaussian(self, opendp: ModuleType) -> None:
        # Theirs is the discrete Gaussian, ours is rounded: at this sigma the two laws differ by less than a third of
        # a per cent in scale, and at sigma 1 by four per cent.
        theirs = gaussian_of(opendp, 5.0, 60_000)
        assert same_law(gaussian_draws(Fraction(5), 300_000), theirs) > RIGHT
        assert same_law(gaussian_draws(Fraction(6), 300_000), theirs) < WRONG

    @pytest.mark.exhaustive
    def test_selection(self, opendp: ModuleType) -> None:
        scores = np.array([0, 3, 1, 4], dtype=np.int64)
        space = opendp.vector_domain(opendp.atom_domain(T="i64")), opendp.linf_distance(T="i64")
        choose = opendp.m.make_noisy_max(*space, opendp.zero_concentrated_divergence(), 2.0)
        theirs = np.bincount([choose(scores) for _ in range(2000)], minlength=4)
        ours = selections(scores, Fraction(1), 2000)
        assert stats.chi2_contingency(np.array([ours, theirs])).pvalue > RIGHT

    @pytest.mark.slow
    @pytest.mark.parametrize("scale", LAPLACE[::2])
    def test_laplace_in_many_draws(self, opendp: ModuleType, scale: Fraction) -> None:
        """Theirs have the law that ours have in a million draws above; either would be seen with a scale 2 % off."""
        theirs = laplace_of(opendp, float(scale), THEIRS)
        assert laplace_fit(theirs, scale) > RIGHT
        assert laplace_fit(theirs, scale * SMALLER) < WRONG

    @pytest.mark.slow
    @pytest.mark.parametrize("sigma", [each for each in GAUSSIAN if each >= 100])
    def test_gaussian_in_many_draws(self, opendp: ModuleType, sigma: Fraction) -> None:
        theirs = gaussian_of(opendp, float(sigma), THEIRS)
        assert gaussian_fit(theirs, sigma) > RIGHT
        assert gaussian_fit(theirs, sigma * SMALLER) < WRONG
