"""The exponential mechanism as an exact race: which of many integer scores wins, with weights exp(rate * score).

**The law.** Give candidate i an independent uniform U_i, E_i = -ln(1 - U_i) and the key rate * score_i - ln E_i. E_i is
exponential, so the candidate with the largest key is i with probability exp(rate * score_i) / sum_j exp(rate *
score_j): the smallest of independent exponential clocks of those speeds.

**Why the result is exact.** The U_i are real numbers of which only the first bits are ever read. k words confine U_i to
an interval, hence its key to an interval, which is widened by a bound on every rounding error made in computing it. A
candidate whose upper end stays under another's lower end has lost, whatever its unread bits are. If one candidate
remains, it is the winner of the race between real numbers; otherwise the remaining ones read one more word each and
are computed again with more digits. Two keys are equal with probability 0, so the race ends. Floating point thus
decides how many bits are read, never who wins, and no weight, sum of weights or difference of large scores is rounded.

**Runtime.** One word and two or three logarithms per candidate. A second round, as a rule of two candidates, is needed
about once in 10^11 calls: when the two best keys are closer than the error bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core import samplers

STEEPEST = Fraction(2**62)
"""Rates above this are lowered to it: a smaller rate is more private, and one point of score decides either way."""

_BLOCK = 1 << 14
"""Candidates per round: the dozen arrays of a round stay in the processor's cache."""
_SLACK = 2.0**-40
"""Relative error granted to double arithmetic: thousands of times what its logarithms and products are off by."""


def winner(scores: NDArray[Any], rate: Fraction) -> int:
    """Index i with probability proportional to exp(rate * scores[i]); one score or more, of a 64-bit integer type."""
    if len(scores) == 1:
        return 0
    rate = min(rate, STEEPEST)
    runners = _first_leaders(scores, rate)
    count = 1
    while len(runners) > 1:
        count += 1
        runners = _leaders([runner.longer() for runner in runners], count)
    return runners[0].index


def _first_leaders(scores: NDArray[Any], rate: Fraction) -> list[_Runner]:
    """The candidates that no other has certainly beaten after one word each."""
    top = scores.max().astype(np.uint64)
    best = -np.inf
    contenders: list[tuple[float, _Runner]] = []
    for start in range(0, len(scores), _BLOCK):
        # Differences modulo 2^64 are the true ones even when the scores span the whole 64-bit range.
        behind = top - scores[start : start + _BLOCK].astype(np.uint64)
        drawn = samplers.words(len(behind))
        low, high = _key_intervals(behind, drawn, float(rate))
        best = max(best, float(low.max()))
        contenders += [
            (float(high[i]), _Runner(index=start + int(i), lag=rate * int(behind[i]), number=int(drawn[i])))
            for i in np.flatnonzero(high >= best)
        ]
    return [runner for reach, runner in contenders if reach >= best]


def _key_intervals(
    behind: NDArray[np.uint64], drawn: NDArray[np.uint64], rate: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Intervals that hold each key, from the first word w of its uniform number, in double arithmetic.

    U lies in [w, w + 1] / 2^64. E comes from U below one half and from 1 - U above it, so that the relative error of E
    stays that of a double. The unread bits change E by a factor within 1 +- 1.45/m, m the distance of w from the nearer
    end of the range, and the key by less than 4/m once m >= 8; closer to an end the word says nothing.
    """
    rest = ~drawn  # 1 - U lies in [rest, rest + 1] / 2^64
    clock = -np.log1p(drawn * -(2.0**-64))
    upper = np.flatnonzero(drawn >> np.uint64(63))
    nearer = np.minimum(drawn, rest).astype(np.float64)
    known = nearer >= 8
    clock[upper] = -np.log(np.maximum(rest[upper], 1) * 2.0**-64)
    gumbel = -np.log(np.where(known, clock, 1.0))
    lag = behind * rate
    key = gumbel - lag
    margin = _SLACK * (1 + lag + np.abs(gumbel)) + 4 / np.maximum(nearer, 1)
    margin[~known] = np.inf
    return key - margin, key + margin


@dataclass(frozen=True)
class _Runner:
    """A candidate still in the race: how far its score lags, and the bits of its uniform number read so far."""

    index: int
    lag: Fraction
    number: int

    def longer(self) -> _Runner:
        word = int(samplers.words(1)[0])
        return _Runner(index=self.index, lag=self.lag, number=(self.number << 64) | word)

    def interval(self, count: int) -> tuple[Decimal, Decimal]:
        """The key's interval after `count` words, in decimal arithmetic (its ln is correctly rounded).

        With 60 + 40k digits, E >= 2^-64k keeps 59 + 20k of them and a lag below 2^126 at least 20 + 40k after the
        point; both errors are far below the 10^-20k by which the interval is widened.
        """
        whole = 1 << (64 * count)
        slack = Decimal(10) ** (-20 * count)
        with localcontext(Context(prec=60 + 40 * count)):
            lag = Decimal(self.lag.numerator) / Decimal(self.lag.denominator)
            latest, earliest = (-(Decimal(whole - end) / whole).ln() for end in (self.number + 1, self.number))
            return -latest.ln() - lag - slack, -earliest.ln() - lag + slack


def _leaders(runners: list[_Runner], count: int) -> list[_Runner]:
    """The runners that no other has certainly beaten."""
    intervals = [runner.interval(count) for runner in runners]
    best = max(low for low, _ in intervals)
    return [runner for runner, (_, high) in zip(runners, intervals, strict=True) if high >= best]
