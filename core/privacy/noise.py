"""The one door to randomness: exact integer noise, private selection, coins and keys, all from the operating system.

The kernel receives a `NoiseSource`; mechanisms never draw by themselves. There are no seeds and no state: a `Noise` may
be shared by threads and forked processes. Noise is added to integers only, because the last bits of a floating-point
sum would give the hidden number away.

**Rounded parameters.** Samplers take a rational number. One that is too long for 64-bit arithmetic is replaced by the
next one above it (scale and variance, that is, a little more noise; relative change below 2^-60 where they are at
least 1). The stated cost is then a true upper bound of the cost of what is drawn.

**Saturation.** The sum of value and noise is formed without overflow and then clamped to the int64 range. Clamping the
sum is post-processing; clamping the noise before adding it would not be.
"""

from __future__ import annotations

import operator
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import IntArray
from core.base.errors import BadParameter
from core.privacy import cube, samplers
from core.privacy.budget import exact

_LOWEST, _HIGHEST = -(2**63), 2**63 - 1
_TOO_SMALL = "is so small that the noise would exceed every 64-bit count; use a larger one."
_STEEPEST = Fraction(2**62)
"""Rates of selection above this are lowered to it: that is more private, and one point of score decides either way."""
_BITS = 62
"""Longest numerator and denominator of a scale or a variance."""


class NoiseSource(Protocol):
    """What the kernel may ask for; `Noise` is the real one, tests may pass a recorder."""

    def laplace(self, values: NDArray[Any], *, epsilon: Fraction, sensitivity: int) -> IntArray: ...

    def gaussian(self, values: NDArray[Any], *, rho: Fraction, sensitivity_squared: int) -> IntArray: ...

    def cube(self, values: NDArray[Any], *, epsilon: Fraction, sensitivity: int) -> IntArray: ...

    def select(self, scores: NDArray[Any], *, epsilon: Fraction, sensitivity: int) -> int: ...

    def select_within(self, scores: NDArray[Any], *, epsilon: Fraction, span: int) -> int: ...

    def select_pair(self, scores: NDArray[Any], *, epsilon: Fraction, sensitivity: int) -> tuple[int, int]: ...

    def pick(self, weights: NDArray[Any]) -> int: ...

    def exceeds(self, values: NDArray[Any], *, epsilon: Fraction, sensitivity: int) -> NDArray[np.bool_]: ...

    def coin(self, exponent: Fraction) -> bool: ...

    def keys(self, count: int) -> NDArray[np.uint64]: ...

    def generator(self) -> np.random.Generator: ...


class Noise:
    """Exact samplers over the operating system's generator."""

    def laplace(self, values: NDArray[Any], *, epsilon: Fraction, sensitivity: int) -> IntArray:
        """Values plus independent discrete Laplace noise z, P(z) proportional to exp(-|z| epsilon/sensitivity).

        **Privacy**: epsilon-differential privacy, where `sensitivity` is the largest L1 change of the whole array
        between neighbours (Dwork et al. 2006; discrete: Ghosh, Roughgarden and Sundararajan 2009).
        **Accuracy**: standard deviation below sqrt(2) sensitivity/epsilon per value; beyond
        (sensitivity/epsilon) ln(2/beta) with probability at most beta.
        **Runtime**: some millions of draws per second, for any scale below 2^62.
        """
        hidden = _integers(values, "values")
        scale = _whole(sensitivity, "sensitivity") / _positive(epsilon, "epsilon")
        if scale >= samplers.SAFE:
            raise BadParameter("epsilon", _TOO_SMALL)
        scale = _round_up(scale, _BITS)
        return _saturating_sum(hidden, samplers.laplace(hidden.size, scale.numerator, scale.denominator))

    def gaussian(self, values: NDArray[Any], *, rho: Fraction, sensitivity_squared: int) -> IntArray:
        """Values plus independent Gaussian noise of variance sigma^2, rounded to whole numbers.

        sigma^2 = sensitivity_squared/(2 rho), where `sensitivity_squared` is the largest squared L2 change of the whole
        array between neighbours. Values are whole, so value plus rounded noise is the rounded sum: post-processing of
        Gaussian noise itself, of which it keeps every guarantee.

        **Privacy**: sqrt(2 rho)-Gaussian differential privacy (Dong, Roth and Su 2022), hence
        rho-zero-concentrated differential privacy (Bun and Steinke 2016).
        **Accuracy**: variance sigma^2 + 1/12, about; where sigma is below 1/2, most noise is 0.
        **Runtime**: more than ten million draws per second up to sigma = 10^6, slower where sigma needs more digits.
        """
        hidden = _integers(values, "values")
        variance = _whole(sensitivity_squared, "sensitivity_squared") / (2 * _positive(rho, "rho"))
        if variance >= samplers.SAFE**2:
            raise BadParameter("rho", _TOO_SMALL)
        variance = _round_up(variance, _BITS)
        return _saturating_sum(hidden, samplers.gaussian(hidden.size, variance.numerator, variance.denominator))

    def cube(self, values: NDArray[Any], *, epsilon: Fraction, sensitivity: int) -> IntArray:
        """Values plus noise that is drawn for all of them together: a point of a cube of random size (`cube.py`).

        **Privacy**: epsilon-differential privacy, where `sensitivity` is the largest change of any single value between
        neighbours; all of them may change as much (Hardt and Talwar 2010, for this norm).
        **Accuracy**: of d values each has noise of mean (d + 1) sensitivity/(2 epsilon), about, where `laplace` would
        need d sensitivity/epsilon.
        **Runtime**: that of d + 1 draws of `laplace`.
        """
        hidden = _integers(values, "values")
        scale = _whole(sensitivity, "sensitivity") / _positive(epsilon, "epsilon")
        if scale >= samplers.SAFE:
            raise BadParameter("epsilon", _TOO_SMALL)
        return _saturating_sum(hidden, cube.cube(hidden.size, _round_up(scale, _BITS)))

    def select(self, scores: NDArray[Any], *, epsilon: Fraction, sensitivity: int) -> int:
        """The exponential mechanism: index i with probability proportional to exp(epsilon scores[i]/(2 sensitivity)).

        **Privacy**: epsilon-differential privacy, and epsilon^2/8-zCDP, where `sensitivity` is the largest change of
        one score between neighbours (McSherry and Talwar 2007; Cesar and Rogers 2021). The number of scores is public.
        **Accuracy**: the chosen score is below the best by more than (2 sensitivity/epsilon) ln(count/beta) with
        probability at most beta.
        **Runtime**: about a millisecond for 10^5 scores, whatever their range.
        """
        return self.select_within(scores, epsilon=epsilon, span=2 * _whole(sensitivity, "sensitivity"))

    def select_within(self, scores: NDArray[Any], *, epsilon: Fraction, span: int) -> int:
        """The exponential mechanism by differences: index i with probability proportional to exp(epsilon score/span).

        **Privacy**: as for `select`, where `span` is the largest change of a difference of two scores between
        neighbours: the log-odds of any two outcomes change by at most epsilon, which is the bounded range that both
        the pure promise and that of epsilon^2/8-zCDP rest on (Durfee and Rogers 2019; Cesar and Rogers 2021).
        """
        candidates = _integers(scores, "scores")
        if candidates.ndim != 1 or candidates.size == 0:
            raise BadParameter("scores", "must be a list of at least one candidate's score.")
        return samplers.select(candidates, _rate_within(epsilon, span))

    def select_pair(self, scores: NDArray[Any], *, epsilon: Fraction, sensitivity: int) -> tuple[int, int]:
        """The exponential mechanism over ordered pairs i != j with the score scores[j] - scores[i], in linear time.

        On prefix sums of a difference of two histograms these pairs are all signed intervals: (i, j] counted plus for
        i < j, (j, i] counted minus for i > j. The weight exp(rate (scores[j] - scores[i])), rate =
        epsilon/(2 sensitivity), is a product over the two ends, so the ends are drawn independently, and again while
        they coincide: by the inequality of Cauchy and Schwarz that has at most 1 chance in len(scores).

        **Privacy**: one exponential mechanism over the pairs, as in `select`; `sensitivity` is the largest change of a
        difference scores[j] - scores[i] between neighbours.
        **Runtime**: two selections.
        """
        ends = _integers(scores, "scores")
        if ends.ndim != 1 or ends.size < 2:
            raise BadParameter("scores", "must be a list of at least two numbers, to choose a pair.")
        if max(int(ends.max()), -int(ends.min())) >= _HIGHEST // 2:
            raise BadParameter("scores", "must be below 2^62 in size, so that differences stay exact.")
        rate = _rate(epsilon, sensitivity)
        while True:
            start, stop = samplers.select(-ends, rate), samplers.select(ends, rate)
            if start != stop:
                return start, stop

    def pick(self, weights: NDArray[Any]) -> int:
        """A place with probability exactly in proportion to its whole weight.

        **Privacy**: none by itself; whoever hands over private weights proves what the place tells (`vertex_order.py`).
        """
        shares = _integers(weights, "weights")
        if shares.ndim != 1 or shares.size == 0 or shares.min() < 0:
            raise BadParameter("weights", "must be a list of whole numbers of at least 0.")
        sums = np.cumsum(shares)
        total = int(sums[-1])
        if total < 1 or (sums[1:] < sums[:-1]).any():
            raise BadParameter("weights", "must sum to at least 1 and to less than 2^63.")
        # Words beyond the last whole multiple of the total would favour the first places; they are drawn again.
        limit = 2**64 // total * total
        while (word := int(samplers.words(1)[0])) >= limit:
            pass
        return int(np.searchsorted(sums, word % total, side="right"))

    def exceeds(self, values: NDArray[Any], *, epsilon: Fraction, sensitivity: int) -> NDArray[np.bool_]:
        """Whether each value is above 0 with discrete Laplace noise of its own, as of `laplace`; noise is never told.

        **Privacy**: of all at once as for `laplace`; whoever asks again and again proves what that tells together
        (`crowding.py`).
        """
        return np.asarray(self.laplace(values, epsilon=epsilon, sensitivity=sensitivity) >= 1)

    def coin(self, exponent: Fraction) -> bool:
        """True with probability exp(-exponent), exponent >= 0."""
        amount = exact(exponent, "exponent")
        if amount < 0:
            raise BadParameter("exponent", "must be at least 0.")
        return bool(samplers.bernoulli_exp(np.array([amount.numerator], dtype=object), amount.denominator)[0])

    def keys(self, count: int) -> NDArray[np.uint64]:
        """Independent uniform 64-bit words, for choices that are random once and then kept."""
        return samplers.words(_whole(count, "count", least=0))

    def below(self, bound: int, count: int) -> IntArray:
        """Independent uniform whole numbers in [0, bound), exactly: what local randomisers are drawn from."""
        if _whole(bound, "bound") > samplers.SAFE:
            raise BadParameter("bound", "must be at most 2^62.")
        return samplers.below(bound, _whole(count, "count", least=0))

    def generator(self) -> np.random.Generator:
        """A fresh ordinary generator, seeded by the operating system, for POST-PROCESSING ONLY.

        Use it to draw records from a model that is already released. It is neither exact nor secure: noise that
        protects anybody comes from the other methods.
        """
        return np.random.default_rng()


def _integers(values: NDArray[Any], parameter: str) -> IntArray:
    """Integer input as int64. What is beyond is clamped: that never increases a sensitivity and never raises."""
    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        raise BadParameter(parameter, "must be whole numbers of an integer type; scale and round them first.")
    if array.dtype == np.uint64:
        array = np.minimum(array, np.uint64(_HIGHEST))
    return array.astype(np.int64, copy=False)


def _positive(value: Fraction, parameter: str) -> Fraction:
    amount = exact(value, parameter)
    if amount <= 0:
        raise BadParameter(parameter, "must be above 0.")
    return amount


def _whole(value: int, parameter: str, least: int = 1) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if isinstance(value, bool | np.bool_) or number < least:
        raise BadParameter(parameter, f"must be a whole number of at least {least}.")
    return number


def _rate(epsilon: Fraction, sensitivity: int) -> Fraction:
    """How fast weights of the exponential mechanism grow with the score."""
    return _rate_within(epsilon, 2 * _whole(sensitivity, "sensitivity"))


def _rate_within(epsilon: Fraction, span: int) -> Fraction:
    return min(_positive(epsilon, "epsilon") / _whole(span, "span"), _STEEPEST)


def _round_up(amount: Fraction, bits: int) -> Fraction:
    """The amount itself if its parts are short, else rounded up to a whole number or a short binary fraction."""
    if max(amount.numerator, amount.denominator) < 1 << bits:
        return amount
    denominator = 1 << max(0, bits - 1 - int(amount).bit_length())
    return Fraction(-(-amount.numerator * denominator // amount.denominator), denominator)


def _saturating_sum(values: IntArray, noise: NDArray[Any]) -> IntArray:
    """Values plus noise (flat), clamped to the int64 range, in the shape of the values."""
    flat = values.reshape(-1)
    if noise.dtype == object:
        total = np.clip(flat.astype(object) + noise, _LOWEST, _HIGHEST).astype(np.int64)
    else:
        total = flat + noise
        wrapped = ((flat ^ total) & (noise ^ total)) < 0
        total[wrapped] = np.where(noise[wrapped] > 0, _HIGHEST, _LOWEST)
    return total.reshape(values.shape)
