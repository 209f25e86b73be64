"""Exact samplers over the operating system's randomness, in integer arithmetic, many draws at a time.

Laplace noise follows Canonne, Kamath and Steinke, 'The Discrete Gaussian for Differential Privacy' (2020), algorithms
1 and 2: every draw is a chain of comparisons between uniform integers and rational numbers, so the distribution is the
stated one, not a floating-point neighbour of it. A comparison with an irrational number (a power of e, a normal tail)
reads the uniform number word by word until it differs from the irrational one.

Nothing is kept between calls: each call asks the operating system for the words it uses, so threads and forked
processes can never see the same words. The run time of a call depends on its draws, as in every rejection sampler.
"""

from __future__ import annotations

import math
import os
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache, partial
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Flags
from core.privacy.normal import normal_tail

WideInts = NDArray[Any]
"""int64 where every number fits, Python integers (dtype object) where one does not."""

SAFE = 2**62
"""Numbers up to here are kept in int64: the sum of two of them still fits."""
_BLOCK = 1 << 16
"""Proposals per round: half a megabyte per array stays in the processor's cache."""


def words(count: int) -> NDArray[np.uint64]:
    """Independent uniform 64-bit words from the operating system."""
    return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)


def below(bound: int, count: int) -> WideInts:
    """Uniform integers in [0, bound), exactly: words that would favour small remainders are drawn again."""
    if bound == 1:
        return np.zeros(count, dtype=np.int64)
    if bound > SAFE:
        return _filled(count, lambda missing: _wide_below(bound, missing))
    return _filled(count, lambda missing: _narrow_below(bound, missing))


def _narrow_below(bound: int, count: int) -> WideInts:
    if bound <= 1 << 24:  # half a word is enough: at most one in 256 is drawn again
        drawn: NDArray[Any] = words((count + 1) // 2).view(np.uint32)[:count]
        width = 32
    else:
        drawn, width = words(count), 64
    surplus = (1 << width) % bound
    if surplus:
        drawn = drawn[drawn < (1 << width) - surplus]
    return (drawn % drawn.dtype.type(bound)).astype(np.int64)


def _wide_below(bound: int, count: int) -> WideInts:
    bits = (bound - 1).bit_length()
    limbs = -(-bits // 64)
    drawn = words(limbs * count).reshape(limbs, count).astype(object)
    number = drawn[0]
    for limb in drawn[1:]:
        number = (number << 64) | limb
    number = number >> (64 * limbs - bits)
    return number[(number < bound).astype(bool)]


def _filled(count: int, propose: Callable[[int], WideInts]) -> WideInts:
    """The first `count` accepted proposals.

    `propose(k)` makes k (or a number that depends on k alone) independent trials and returns the accepted ones in
    order, so what is kept is a prefix of an endless independent sequence: stopping early favours no value.
    """
    pieces: list[WideInts] = []
    missing = count
    while missing:
        piece = propose(missing)[:missing]
        missing -= len(piece)
        pieces.append(piece)
    if len(pieces) == 1:
        return pieces[0]
    return np.concatenate(pieces) if pieces else np.zeros(0, dtype=np.int64)


@lru_cache(maxsize=512)
def exp_floor(power: int, bits: int) -> int:
    """floor(2^bits * e^-power), certain: digits are added until the rounding error no longer matters.

    They run out only for power 0, since every other power of e is irrational.
    """
    if power == 0:
        return 1 << bits
    digits = bits // 3 + 20
    while True:
        with localcontext(Context(prec=digits)):
            value = Decimal(-power).exp() * Decimal(2) ** bits
            error = (value + 1) * Decimal(10) ** (3 - digits)
            low, high = int(value - error), int(value + error)
        if low == high:
            return low
        digits += 20


_TAILS = np.array([exp_floor(power, 64) for power in range(44, 0, -1)], dtype=np.uint64)
"""First words of e^-44, ..., e^-1, in rising order; e^-44 is the last that has a bit in its first word."""


def geometric(count: int) -> WideInts:
    """V >= 0 with P(V >= v) = e^-v: the number of powers e^-1, e^-2, ... above one uniform number in [0, 1).

    A word equal to the first word of a power decides nothing (probability 2^-64 per power) and is continued. A number
    below e^-44 starts afresh from 44: the geometric law has no memory.
    """
    drawn = words(count)
    place = np.searchsorted(_TAILS, drawn, side="right")
    result = (len(_TAILS) - place).astype(np.int64)
    for index in np.flatnonzero(_TAILS[place - 1] == drawn):
        result[index] += _continues_below(int(result[index]) + 1, int(drawn[index]))
    deep = np.flatnonzero(result == len(_TAILS))
    if deep.size:
        result[deep] += geometric(deep.size)
    return result


def _continues_below(power: int, number: int) -> bool:
    """Whether a uniform number whose first word is that of e^-power lies below e^-power."""
    bits = 64
    while True:
        bits += 64
        number = (number << 64) | int(words(1)[0])
        edge = exp_floor(power, bits)
        if number != edge:
            return number < edge


def bernoulli_exp(numerators: WideInts, denominator: int) -> Flags:
    """Independent coins, True with probability exp(-numerator/denominator); numerators >= 0, denominator >= 1.

    The whole part w of the exponent is one geometric draw (P(V >= w) = e^-w), the rest r < 1 is `_decays`.
    """
    if denominator > SAFE:
        numerators = numerators.astype(object)
    whole, rest = numerators // denominator, numerators % denominator
    result = (geometric(len(numerators)) >= whole).astype(bool)
    alive = np.flatnonzero(result)
    result[alive] = _decays(rest[alive], denominator)
    return result


def _decays(numerators: WideInts, denominator: int) -> Flags:
    """True with probability exp(-r), r = numerator/denominator in [0, 1] (algorithm 1, after von Neumann).

    Count trials that succeed with probability r/1, r/2, r/3, ... up to the first failure, at trial K:
    P(K odd) = 1 - r + r^2/2! - r^3/3! + ... = exp(-r). A chance r/k is two coins, r and 1/k, so no product overflows.
    """
    result = np.zeros(len(numerators), dtype=bool)
    if denominator <= SAFE:
        numerators = numerators.astype(np.int64)
    alive = np.arange(len(numerators))
    trial = 1
    while alive.size:
        success = below(trial, alive.size) == 0
        chosen = np.flatnonzero(success)
        success[chosen] = (below(denominator, chosen.size) < numerators[alive[chosen]]).astype(bool)
        if trial % 2:
            result[alive[~success]] = True
        alive = alive[success]
        trial += 1
    return result


def laplace(count: int, numerator: int, denominator: int) -> WideInts:
    """Discrete Laplace noise of scale t/s = numerator/denominator: P(z) proportional to exp(-|z| s/t) (algorithm 2).

    U below t kept with probability exp(-U/t), plus t times V with P(V >= v) = e^-v, is X with P(x) ~ exp(-x/t); then
    floor(X/s) has P(y) ~ exp(-y s/t). A fair sign, with minus zero refused, makes it two-sided.
    """

    def propose(missing: int) -> WideInts:
        units = below(numerator, min(2 * missing + 8, _BLOCK))
        units = units[_decays(units, numerator)]
        whole = geometric(len(units))
        if max(numerator * (int(whole.max(initial=0)) + 1), denominator) > SAFE:
            units, whole = units.astype(object), whole.astype(object)
        size = (units + numerator * whole) // denominator
        minus = below(2, len(size)) == 1
        return np.where(minus, -size, size)[~(minus & (size == 0).astype(bool))]

    return _filled(count, propose)


def gaussian(count: int, numerator: int, denominator: int) -> WideInts:
    """Rounded Gaussian noise: sigma Z rounded to the nearest whole number, sigma^2 = numerator/denominator, exactly.

    A word gives a fair sign and the first 63 bits of a number u below 1/2; the size is the k for which
    Q((k + 1/2)/sigma) <= u < Q((k - 1/2)/sigma), Q being the normal tail, by inversion. Floating point proposes k;
    it is kept where u stays clear of both edges by more than all floating-point errors together, and settled with
    as many digits as it takes otherwise (`_settled`).
    """
    pieces = [
        _rounded(min(_BLOCK, count - start), Fraction(numerator, denominator)) for start in range(0, count, _BLOCK)
    ]
    return np.concatenate(pieces) if pieces else np.zeros(0, dtype=np.int64)


_UNCLEAR = 1e-12
"""Relative distance from an edge below which floating point does not decide. Its own errors are far smaller: the edges
are off by less than 10^-13 of themselves up to nine standard deviations (square root, division and `ndtr`)."""
_DEEP = 2.0**-60
"""Tails below this are settled with all their digits: the 63 bits that were read say too little about them."""


def _rounded(count: int, variance: Fraction) -> WideInts:
    from scipy.special import ndtr, ndtri  # imported late: a page that draws nothing must not wait for it

    drawn, sigma = words(count), math.sqrt(variance)
    minus, bits = (drawn & np.uint64(1)).astype(bool), drawn >> np.uint64(1)
    tail = bits.astype(np.float64) * 2.0**-64
    size = np.floor(-ndtri(tail + 2.0**-65) * sigma + 0.5)
    low = ndtr(-(size + 0.5) / sigma) * (1 + _UNCLEAR)
    high = np.where(size > 0, ndtr(-(size - 0.5) / sigma) * (1 - _UNCLEAR), 1.0)
    clear = (low < tail) & (tail + 2.0**-64 < high) & (tail > _DEEP) & (size < SAFE)
    if clear.all():
        found: WideInts = size.astype(np.int64)
    else:
        found = np.where(clear, size, 0).astype(np.int64)
        settled = {int(at): _settled(int(bits[at]), int(size[at]), variance) for at in np.flatnonzero(~clear)}
        if max(settled.values()) > SAFE:
            found = found.astype(object)
        for at, value in settled.items():
            found[at] = value
    return np.where(minus, -found, found)


def _settled(first: int, guess: int, variance: Fraction) -> int:
    """The size for a number u whose first 63 bits behind 1/2 are given: the least k with Q((k + 1/2)/sigma) <= u.

    The search goes from the guess in growing steps, then by halves. Where u is too near to an edge for the bits and
    digits in use, 64 more bits are read.
    """
    number, bits = first, 64
    while True:
        found = _least(partial(_reached, number, bits, variance), max(0, guess))
        if found is not None:
            return found
        number, bits = (number << 64) | int(words(1)[0]), bits + 64


def _least(reached: Callable[[int], bool | None], guess: int) -> int | None:
    """The least number at or above 0 that is reached, where all above it are; None where one is not decided."""
    low, high, step = -1, guess, 1
    while (said := reached(high)) is not True:
        if said is None:
            return None
        low, high, step = high, high + step, 2 * step
    step = 1
    while low == -1 and high > 0:
        said = reached(lower := max(0, high - step))
        if said is None:
            return None
        low, high, step = (lower, high, step) if not said else (-1, lower, 2 * step)
    while high - low > 1:
        said = reached(middle := (low + high) // 2)
        if said is None:
            return None
        low, high = (low, middle) if said else (middle, high)
    return high


def _reached(number: int, bits: int, variance: Fraction, size: int) -> bool | None:
    """Whether Q((size + 1/2)/sigma) <= u for every u that starts with these bits; None if for some only."""
    with localcontext(Context(prec=bits // 2 + 40, Emin=-(10**12), Emax=10**12)):
        edge = Fraction(2 * size + 1, 2) ** 2 / variance
        x = (Decimal(edge.numerator) / Decimal(edge.denominator)).sqrt()
        if edge > 4 * bits:
            return True if number else None  # Q(x) < exp(-x^2/2) < 2^-bits <= u
        tail = normal_tail(x) * Decimal(2) ** bits
        error = Decimal(10) ** -5
        return True if tail + error <= number else False if tail - error >= number + 1 else None


def select(scores: NDArray[np.int64], rate: Fraction) -> int:
    """Index i with probability proportional to exp(rate * scores[i]), for one score or more of any range.

    Let lag = rate * (best score - score), so that weights are exp(-lag) <= 1, and let a candidate's layer be a whole
    number b <= lag, at most H = 6 + log2(count). Draw a layer with probability proportional to (number of its
    candidates) * e^-b, then one of its candidates uniformly, and keep it with probability exp(-(lag - b)), else start
    again. That is rejection sampling from weights e^-b >= exp(-lag): the kept index has the stated law exactly, however
    the layers are chosen. With b = floor(lag) at least one draw in three is kept; layer H, where lag - b may be
    large, is reached by less than one in 300.
    """
    # Differences modulo 2^64 are the true ones even when the scores span the whole 64-bit range.
    behind = scores.max().view(np.uint64) - scores.view(np.uint64)
    deepest = 6 + len(scores).bit_length()
    above = behind <= np.uint64(min(int(deepest / rate), 2**64 - 1))  # exactly those with lag <= deepest
    upper = np.flatnonzero(above)
    # Lowered by 2^-50 so that four correctly rounded operations cannot lift a layer to above its lag or to `deepest`.
    layers = (behind[upper] * (float(rate) * (1 - 2.0**-50))).astype(np.int64)
    sizes = np.bincount(layers, minlength=deepest + 1).tolist()
    sizes[deepest] = len(scores) - len(upper)
    while True:
        layer = _layer(sizes)
        members = upper[layers == layer] if layer < deepest else np.flatnonzero(~above)
        index = int(members[int(below(len(members), 1)[0])])
        excess = rate * int(behind[index]) - layer
        if bernoulli_exp(np.array([excess.numerator], dtype=object), excess.denominator)[0]:
            return index


def _layer(sizes: list[int]) -> int:
    """Layer b with probability proportional to sizes[b] * e^-b.

    A uniform number, of which k words are read, times the sum of all weights falls on the layer whose partial sums
    enclose it. Sums are integers in units of 2^-64(k + 1), each too small by less than the number of candidates; while
    these errors and the unread bits leave two layers possible (probability below 2^-50), one more word is read.
    """
    last = max(b for b, size in enumerate(sizes) if size)
    number, bits = 0, 0
    while True:
        number, bits = (number << 64) | int(words(1)[0]), bits + 64
        lower = list(accumulate(size * exp_floor(b, bits + 64) for b, size in enumerate(sizes)))
        error = sum(sizes)
        earliest = bisect_right([edge + error for edge in lower], (number * lower[-1]) >> bits)
        highest = (((number + 1) * (lower[-1] + error)) >> bits) + 1
        latest = min(bisect_left(lower, highest), last)
        if earliest == latest:
            return latest
