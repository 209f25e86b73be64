"""The samplers have the laws they state; `tests/privacy/test_samplers.py` looks at them in a million draws."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from core.base.errors import BadParameter
from core.privacy import noise as noise_module
from core.privacy import samplers
from core.privacy.noise import Noise, NoiseSource
from tests.privacy.kit.laws import (
    RIGHT,
    WRONG,
    gaussian_draws,
    gaussian_fit,
    laplace_draws,
    laplace_fit,
    selections,
    softmax_fit,
    zeros,
)

NOISE = Noise()
LOWEST, HIGHEST = -(2**63), 2**63 - 1


def test_sensitivity_multiplies_the_noise() -> None:
    draws = NOISE.laplace(zeros(200_000), epsilon=Fraction(1, 2), sensitivity=3)
    assert laplace_fit(draws, Fraction(6)) > RIGHT
    draws = NOISE.gaussian(zeros(200_000), rho=Fraction(1, 8), sensitivity_squared=4)
    assert gaussian_fit(draws, Fraction(4)) > RIGHT


@pytest.mark.parametrize(
    "scale", [Fraction(22, 7), Fraction(3 * 10**11 + 1, 10**11), Fraction(3 * 10**40 + 1, 10**40 + 7)]
)
def test_fractions_of_any_length_keep_the_law(scale: Fraction) -> None:
    assert laplace_fit(laplace_draws(scale, 200_000), scale) > RIGHT
    assert gaussian_fit(gaussian_draws(scale, 200_000), scale) > RIGHT


@pytest.mark.exhaustive
def test_laplace_and_gaussian_beyond_machine_integers() -> None:
    scale = Fraction(10**15)
    draws = laplace_draws(scale, 20_000).astype(float)
    assert stats.kstest(draws, stats.laplace(scale=float(scale)).cdf).pvalue > RIGHT
    draws = gaussian_draws(scale, 10_000).astype(float)
    assert stats.kstest(draws, stats.norm(scale=float(scale)).cdf).pvalue > RIGHT


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=3)
@pytest.mark.parametrize(
    ("scores", "epsilon", "sensitivity"),
    [
        ([0, 1, 2, 3], Fraction(1), 1),
        ([7, 7, 7], Fraction(1), 1),
        ([5, 5, 2, 2, 2, 0], Fraction(3, 2), 2),
        ([-10, 0, 10, -20], Fraction(1, 10), 1),
        ([LOWEST, HIGHEST, HIGHEST - 1, 0], Fraction(1), 1),
        ([LOWEST, HIGHEST, 0, 1], Fraction(3, 2**64), 1),
        ([0, 10**9, 10**9 + 10**8], Fraction(1, 10**8 + 7), 1),
    ],
)
def test_selection_follows_the_exponential_mechanism(scores: list[int], epsilon: Fraction, sensitivity: int) -> None:
    observed = selections(np.array(scores), epsilon, 3000, sensitivity)
    assert softmax_fit(observed, scores, float(epsilon) / (2 * sensitivity)) > RIGHT


@pytest.mark.exhaustive
def test_the_selection_test_sees_a_wrong_epsilon() -> None:
    observed = selections(np.array([0, 1, 2, 3]), Fraction(5, 2), 3000)
    assert softmax_fit(observed, [0, 1, 2, 3], 0.5) < WRONG


def pair_fit(scores: np.ndarray, epsilon: Fraction, draws: int) -> float:
    """p-value of ordered pairs against the exponential mechanism over all of them, listed."""
    pairs = [(i, j) for i in range(len(scores)) for j in range(len(scores)) if i != j]
    weights = np.array([np.exp(float(epsilon) / 2 * (scores[j] - scores[i])) for i, j in pairs])
    drawn = [NOISE.select_pair(scores, epsilon=Fraction(1, 2), sensitivity=1) for _ in range(draws)]
    observed = np.array([drawn.count(pair) for pair in pairs])
    return float(stats.chisquare(observed, draws * weights / weights.sum()).pvalue)


@pytest.mark.exhaustive
def test_pairs_follow_the_exponential_mechanism_over_signed_intervals() -> None:
    scores = np.array([0, 2, -1, 1, 1])
    assert pair_fit(scores, Fraction(1, 2), 4_000) > RIGHT
    assert pair_fit(scores, Fraction(1), 4_000) < WRONG


def test_a_pair_needs_two_ends_that_differ_safely() -> None:
    assert set(NOISE.select_pair(np.array([5, 5]), epsilon=Fraction(1), sensitivity=1)) == {0, 1}
    near = np.array([0, 2**62 - 2, -(2**62 - 2)])
    assert NOISE.select_pair(near, epsilon=Fraction(1), sensitivity=1) == (2, 1)
    for scores in ([1], [[1, 2], [3, 4]], [0, 2**62 - 1], [0, 1 - 2**62], [0, LOWEST]):
        with pytest.raises(BadParameter, match="scores"):
            NOISE.select_pair(np.array(scores), epsilon=Fraction(1), sensitivity=1)


@pytest.mark.exhaustive
def test_selection_among_many() -> None:
    scores = np.repeat(np.arange(100), 50)
    rate = 0.2
    observed = selections(scores, Fraction(2, 5), 2000).reshape(100, 50).sum(axis=1)[70:]
    weights = np.exp(rate * np.arange(100))
    expected = weights[70:] / weights.sum() * 2000
    rest = 2000 - observed.sum()
    assert stats.chisquare([*observed, rest], [*expected, 2000 - expected.sum()]).pvalue > RIGHT


@pytest.mark.exhaustive
def test_far_candidates_keep_their_odds_among_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forced into the deepest layer, which nearly never comes up by itself, the draw must still follow the weights."""
    scores = [1000, 30, 29, 28, 10]
    monkeypatch.setattr(samplers, "_layer", lambda sizes: len(sizes) - 1)
    deepest = 6 + len(scores).bit_length()
    rate = Fraction(deepest + 1, 970)  # the first far candidate lags by exactly one more than the deepest layer
    drawn = np.bincount([samplers.select(np.array(scores), rate) for _ in range(3000)], minlength=5)
    assert drawn[0] == 0
    assert softmax_fit(drawn[1:], scores[1:], float(rate)) > RIGHT


def test_one_candidate_and_steep_rates() -> None:
    assert NOISE.select(np.array([-5]), epsilon=Fraction(1), sensitivity=1) == 0
    assert NOISE.select(np.array([0, 1, 0]), epsilon=Fraction(10**400), sensitivity=1) == 1
    assert {NOISE.select(np.array([0, 1]), epsilon=Fraction(1, 10**400), sensitivity=1) for _ in range(60)} == {0, 1}
    assert NOISE.select(np.array([0, 200], dtype=np.uint8), epsilon=Fraction(1000), sensitivity=1) == 1


def scripted(monkeypatch: pytest.MonkeyPatch, *answers: int) -> Iterator[int]:
    """Make the operating system's next words the given ones; running out of them fails the test."""
    queue = iter(answers)
    monkeypatch.setattr(samplers, "words", lambda count: np.array([next(queue) for _ in range(count)], dtype=np.uint64))
    return queue


@pytest.mark.parametrize(("second", "layer"), [(0, 0), (2**64 - 1, 1)])
def test_a_word_on_the_edge_of_two_layers_is_continued(monkeypatch, second: int, layer: int) -> None:
    with localcontext(prec=80):
        edge = int(Decimal(2) ** 64 / (1 + Decimal(-1).exp()))
    rest = scripted(monkeypatch, edge, second)
    assert samplers._layer([1, 1]) == layer
    assert next(rest, None) is None


def test_a_word_off_the_edge_decides_at_once(monkeypatch) -> None:
    scripted(monkeypatch, 2**62)
    assert samplers._layer([1, 1]) == 0
    scripted(monkeypatch, 2**64 - 1)
    assert samplers._layer([1, 1, 0]) == 1


@pytest.mark.parametrize(("second", "value"), [(0, 3), (2**64 - 1, 2)])
def test_a_geometric_word_on_an_edge_is_continued(monkeypatch, second: int, value: int) -> None:
    rest = scripted(monkeypatch, samplers.exp_floor(3, 64), second)
    assert samplers.geometric(1).tolist() == [value]
    assert next(rest, None) is None


def test_a_geometric_draw_has_no_ceiling(monkeypatch) -> None:
    scripted(monkeypatch, 0, 0, 2**64 - 1)
    assert samplers.geometric(1).tolist() == [88]


def test_geometric_law() -> None:
    drawn = np.minimum(samplers.geometric(500_000), 9)
    chances = np.exp(-np.arange(10.0)) * (1 - np.exp(-1))
    chances[9] = np.exp(-9)
    assert stats.chisquare(np.bincount(drawn, minlength=10), chances * 500_000).pvalue > RIGHT


@pytest.mark.parametrize(("power", "bits"), [(1, 64), (7, 64), (44, 64), (3, 128), (30, 256)])
def test_powers_of_e_are_certain_to_the_last_bit(power: int, bits: int) -> None:
    """e^power lies between a partial sum of its series and that sum plus twice the next term."""
    term, below_e = Fraction(1), Fraction(0)
    for step in range(1, 500):
        below_e += term
        term *= Fraction(power, step)
    above_e = below_e + 2 * term
    assert int(2**bits / below_e) == int(2**bits / above_e) == samplers.exp_floor(power, bits)
    assert samplers.exp_floor(0, 64) == 2**64


@pytest.mark.parametrize("bound", [1, 2, 3, 1000, 2**24, 2**24 + 1, 3 * 2**60, 2**62, 3 * 2**62, 10**30])
def test_integers_below_a_bound_are_uniform(bound: int) -> None:
    drawn = samplers.below(bound, 40_000)
    cells = min(bound, 12)
    assert drawn.min() >= 0 and drawn.max() < bound
    observed = np.bincount([int(number) * cells // bound for number in drawn], minlength=cells)
    sizes = np.bincount([number * cells // bound for number in range(bound)]) if bound <= 1000 else np.ones(cells)
    assert stats.chisquare(observed, sizes / sizes.sum() * 40_000).pvalue > RIGHT or bound == 1


def test_words_that_would_favour_small_remainders_are_drawn_again(monkeypatch) -> None:
    scripted(monkeypatch, 5 * 3 * 2**60, 2**64 - 1, 3 * 2**60 + 9)
    assert samplers.below(3 * 2**60, 1).tolist() == [9]


@pytest.mark.parametrize("exponent", [Fraction(0), Fraction(1, 3), Fraction(1), Fraction(5, 2), Fraction(7)])
@pytest.mark.parametrize("stretch", [1, 10**30])
def test_coins_fall_with_probability_exp_minus_x(exponent: Fraction, stretch: int) -> None:
    numerators = np.full(60_000, exponent.numerator * stretch, dtype=object)
    heads = int(samplers.bernoulli_exp(numerators, exponent.denominator * stretch).sum())
    assert stats.binomtest(heads, 60_000, min(1.0, float(np.exp(-float(exponent))))).pvalue > RIGHT


@pytest.mark.exhaustive
def test_single_coins() -> None:
    assert all(NOISE.coin(Fraction(0)) for _ in range(50))
    assert not any(NOISE.coin(Fraction(10**6)) for _ in range(50))
    heads = sum(NOISE.coin(Fraction(1, 2)) for _ in range(2000))
    assert stats.binomtest(heads, 2000, float(np.exp(-0.5))).pvalue > RIGHT


def test_values_are_shifted_and_keep_their_shape() -> None:
    values = np.array([[10**6, -(10**6), 0]], dtype=np.int32)
    for noisy in (
        NOISE.laplace(values, epsilon=Fraction(1), sensitivity=1),
        NOISE.gaussian(values, rho=Fraction(1), sensitivity_squared=1),
    ):
        assert noisy.shape == (1, 3) and noisy.dtype == np.int64
        assert np.abs(noisy - values).max() < 200
    assert NOISE.laplace(np.array(5), epsilon=Fraction(1), sensitivity=1).shape == ()
    assert NOISE.gaussian(np.int64(5), rho=Fraction(1), sensitivity_squared=1).shape == ()
    assert NOISE.laplace(zeros(0).reshape(0, 4), epsilon=Fraction(1), sensitivity=1).shape == (0, 4)


def test_sums_stop_at_the_ends_of_int64_instead_of_wrapping() -> None:
    ends = np.repeat([HIGHEST, LOWEST], 500)
    for noisy in (
        NOISE.laplace(ends, epsilon=Fraction(1, 5), sensitivity=1),
        NOISE.gaussian(ends, rho=Fraction(1, 50), sensitivity_squared=1),
    ):
        assert (noisy[:500] > HIGHEST - 1000).all() and (noisy[500:] < LOWEST + 1000).all()
        assert (noisy == ends).mean() > 0.4
    huge = NOISE.laplace(ends, epsilon=Fraction(1, 10**18), sensitivity=1)
    assert ((huge == HIGHEST) & (ends == HIGHEST)).sum() > 100 and ((huge == LOWEST) & (ends == LOWEST)).sum() > 100


def test_the_sum_is_clamped_and_not_the_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = np.array([2**63 + 5, 2**65, -(2**70)], dtype=object)
    monkeypatch.setattr(samplers, "laplace", lambda count, numerator, denominator: drawn)
    noisy = NOISE.laplace(np.array([-10, LOWEST, 3]), epsilon=Fraction(1), sensitivity=1)
    assert noisy.tolist() == [2**63 - 5, HIGHEST, LOWEST]


def test_unsigned_values_beyond_int64_are_clamped_before_noise() -> None:
    values = np.full(100, 2**64 - 1, dtype=np.uint64)
    assert (NOISE.laplace(values, epsilon=Fraction(1), sensitivity=1) > HIGHEST - 200).all()


@given(
    amount=st.fractions(min_value=Fraction(1, 10**30), max_value=10**30, max_denominator=10**40),
    bits=st.sampled_from([24, 62]),
)
def test_parameters_are_only_rounded_towards_more_noise(amount: Fraction, bits: int) -> None:
    rounded = noise_module._round_up(amount, bits)
    assert rounded >= amount
    assert rounded - amount < max(amount / 2 ** (bits - 2), Fraction(2, 2**bits))
    assert rounded.denominator < 2**bits
    if max(amount.numerator, amount.denominator) < 2**bits:
        assert rounded == amount


GOOD = {"epsilon": Fraction(1), "sensitivity": 1}
GOOD_RHO = {"rho": Fraction(1), "sensitivity_squared": 1}
BAD_AMOUNTS = [0, -1, Fraction(-1, 3), float("nan"), float("inf"), "x", None, True]
BAD_WHOLES = [0, -1, 1.5, 2.0, "x", None, True, np.True_]


@pytest.mark.parametrize("bad", BAD_AMOUNTS)
def test_bad_amounts_are_refused_by_name(bad: object) -> None:
    for method in (NOISE.laplace, NOISE.select):
        with pytest.raises(BadParameter, match=r"^epsilon: "):
            method(zeros(3), **{**GOOD, "epsilon": bad})
    with pytest.raises(BadParameter, match=r"^rho: "):
        NOISE.gaussian(zeros(3), **{**GOOD_RHO, "rho": bad})


@pytest.mark.parametrize("bad", BAD_WHOLES)
def test_bad_sensitivities_are_refused_by_name(bad: object) -> None:
    for method in (NOISE.laplace, NOISE.select):
        with pytest.raises(BadParameter, match=r"^sensitivity: "):
            method(zeros(3), **{**GOOD, "sensitivity": bad})
    with pytest.raises(BadParameter, match=r"^sensitivity_squared: "):
        NOISE.gaussian(zeros(3), **{**GOOD_RHO, "sensitivity_squared": bad})


@pytest.mark.parametrize("bad", [np.array([1.0, 2.0]), np.array([True, False]), np.array(["1"]), np.array([2**70])])
def test_only_integers_get_noise(bad: np.ndarray) -> None:
    with pytest.raises(BadParameter, match=r"^values: .*integer"):
        NOISE.laplace(bad, **GOOD)
    with pytest.raises(BadParameter, match=r"^values: .*integer"):
        NOISE.gaussian(bad, **GOOD_RHO)
    with pytest.raises(BadParameter, match=r"^scores: .*integer"):
        NOISE.select(bad, **GOOD)


def test_other_refusals() -> None:
    for bad in (zeros(0), zeros(4).reshape(2, 2), np.array(1)):
        with pytest.raises(BadParameter, match=r"^scores: "):
            NOISE.select(bad, **GOOD)
    with pytest.raises(BadParameter, match=r"^epsilon: .*small"):
        NOISE.laplace(zeros(1), epsilon=Fraction(1, 2**63), sensitivity=1)
    with pytest.raises(BadParameter, match=r"^rho: .*small"):
        NOISE.gaussian(zeros(1), rho=Fraction(1, 2**130), sensitivity_squared=1)
    with pytest.raises(BadParameter, match=r"^exponent: "):
        NOISE.coin(Fraction(-1))
    with pytest.raises(BadParameter, match=r"^count: "):
        NOISE.keys(-1)


def test_keys_are_fresh_words_and_generators_differ() -> None:
    keys = NOISE.keys(10_000)
    assert keys.dtype == np.uint64 and keys.shape == (10_000,) and NOISE.keys(0).shape == (0,)
    assert len(np.unique(np.concatenate([keys, NOISE.keys(10_000)]))) == 20_000
    bits = np.unpackbits(keys.view(np.uint8)).sum()
    assert stats.binomtest(int(bits), 640_000).pvalue > RIGHT
    first, second = (NOISE.generator().integers(2**63, size=4).tolist() for _ in range(2))
    assert first != second


def test_noise_is_a_noise_source() -> None:
    source: NoiseSource = NOISE
    methods = [name for name in vars(NoiseSource) if not name.startswith("_")]
    assert methods and all(callable(getattr(source, name)) for name in methods)


@pytest.mark.exhaustive
def test_selection_within_a_span_is_twice_as_sharp() -> None:
    scores = np.array([0, 1, 3])
    drawn = [Noise().select_within(scores, epsilon=Fraction(1), span=2) for _ in range(3_000)]
    assert softmax_fit(np.bincount(drawn, minlength=3), scores.tolist(), 0.5) > RIGHT
    with pytest.raises(BadParameter, match="span"):
        Noise().select_within(scores, epsilon=Fraction(1), span=0)


def test_a_pick_follows_its_whole_weights() -> None:
    weights = np.array([0, 5, 1, 0, 2**40])
    assert {Noise().pick(weights) for _ in range(200)} == {4}
    drawn = np.bincount([Noise().pick(np.array([3, 0, 1])) for _ in range(4_000)], minlength=3)
    assert drawn[1] == 0
    assert stats.binomtest(int(drawn[0]), 4_000, 0.75).pvalue > RIGHT


def test_words_that_would_favour_the_first_places_are_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    queue = iter([2**64 - 1, 2, 2**64 - 2, 1])
    monkeypatch.setattr(samplers, "words", lambda count: np.array([next(queue)], dtype=np.uint64))
    # 2^64 is one more than a multiple of three: its last word is left out, the one before it is not.
    assert [NOISE.pick(np.array([1, 1, 1])) for _ in range(3)] == [2, 2, 1]


@pytest.mark.parametrize("weights", [[], [0, 0], [-1, 2], [2**62] * 3, [2**62] * 5, [[1, 2]]])
def test_picks_that_cannot_be_made_are_refused(weights: list[int]) -> None:
    with pytest.raises(BadParameter, match="weights"):
        Noise().pick(np.array(weights, dtype=np.int64))


def test_choices_and_pairs_grow_with_half_the_epsilon_for_each_change(monkeypatch: pytest.MonkeyPatch) -> None:
    rates: list[Fraction] = []
    monkeypatch.setattr(samplers, "select", lambda scores, rate: rates.append(rate) or len(rates))
    scores = np.array([0, 1, 2])
    NOISE.select(scores, epsilon=Fraction(3, 7), sensitivity=5)
    NOISE.select_within(scores, epsilon=Fraction(3, 7), span=5)
    NOISE.select_pair(scores, epsilon=Fraction(3, 7), sensitivity=5)
    assert rates == [Fraction(3, 70), Fraction(3, 35), Fraction(3, 70), Fraction(3, 70)]


@pytest.mark.parametrize("amount", [Fraction(3 * 10**40 + 1, 10**40 + 7), Fraction(10**30, 3), Fraction(1, 10**30)])
def test_what_is_rounded_up_is_short_and_hardly_larger(amount: Fraction) -> None:
    rounded = noise_module._round_up(amount, 62)
    assert max(rounded.numerator, rounded.denominator) < 2**62 or rounded.denominator == 1
    assert amount <= rounded <= amount + max(amount / 2**59, Fraction(1, 2**60))
