"""A statistical audit: what an attacker who may run a mechanism very often can prove about its privacy.

A mechanism is run many times on two neighbouring tables. On one half of the runs the attacker looks for the event that
tells the tables apart best; the other half, which had no part in the choice, gives its two probabilities with
Clopper-Pearson limits, and so a lower limit of epsilon that is wrong with probability at most `DOUBT`. A mechanism
whose limit exceeds the epsilon it claims is broken beyond reasonable doubt.

Noise is drawn in blocks: `Blocks` is a noise source that draws from the real one many numbers at a time.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from core.privacy.noise import Noise

DOUBT = 1e-6
BLOCK = 2**15
PARTS = 40
"""Of the runs that judge an event: after each of them it is asked whether the others are still needed."""
Floats = NDArray[np.float64]
Runs = Callable[[int], Floats]
"""What so many more runs release, one line each."""


class Blocks:
    """The real noise, drawn ahead in blocks; a factor other than 1 makes a mechanism that is not private enough."""

    def __init__(self, factor: Fraction = Fraction(1)) -> None:
        self._noise, self._factor = Noise(), factor
        self._held: dict[Any, tuple[NDArray[np.int64], int]] = {}

    def laplace(self, values: Any, *, epsilon: Fraction, sensitivity: int) -> NDArray[np.int64]:
        def drawn(count: int) -> NDArray[np.int64]:
            zeros = np.zeros(count, dtype=np.int64)
            return self._noise.laplace(zeros, epsilon=epsilon / self._factor, sensitivity=sensitivity)

        return self._added(values, ("laplace", epsilon, sensitivity), drawn)

    def gaussian(self, values: Any, *, rho: Fraction, sensitivity_squared: int) -> NDArray[np.int64]:
        def drawn(count: int) -> NDArray[np.int64]:
            zeros = np.zeros(count, dtype=np.int64)
            return self._noise.gaussian(zeros, rho=rho / self._factor**2, sensitivity_squared=sensitivity_squared)

        return self._added(values, ("gaussian", rho, sensitivity_squared), drawn)

    def cube(self, values: Any, *, epsilon: Fraction, sensitivity: int) -> NDArray[np.int64]:
        return self._noise.cube(values, epsilon=epsilon / self._factor, sensitivity=sensitivity)

    def select(self, scores: Any, *, epsilon: Fraction, sensitivity: int) -> int:
        return self._noise.select(scores, epsilon=epsilon / self._factor, sensitivity=sensitivity)

    def select_pair(self, scores: Any, *, epsilon: Fraction, sensitivity: int) -> tuple[int, int]:
        return self._noise.select_pair(scores, epsilon=epsilon / self._factor, sensitivity=sensitivity)

    def exceeds(self, values: Any, *, epsilon: Fraction, sensitivity: int) -> NDArray[np.bool_]:
        return self.laplace(values, epsilon=epsilon, sensitivity=sensitivity) >= 1

    def keys(self, count: int) -> NDArray[np.uint64]:
        return self._noise.keys(count)

    def generator(self) -> np.random.Generator:
        return self._noise.generator()

    def _added(self, values: Any, key: Any, draw: Callable[[int], NDArray[np.int64]]) -> NDArray[np.int64]:
        hidden = np.asarray(values)
        block, used = self._held.get(key, (np.zeros(0, dtype=np.int64), 0))
        if used + hidden.size > block.size:
            block, used = draw(max(BLOCK, hidden.size)), 0
        self._held[key] = block, used + hidden.size
        return hidden + block[used : used + hidden.size].reshape(hidden.shape)


def lower_limit(one: Floats, two: Floats, delta: float = 0.0) -> float:
    """Epsilon is at least this, except with probability DOUBT; each line of the input is what one run released."""
    one, two = (np.asarray(runs, dtype=np.float64).reshape(len(runs), -1) for runs in (one, two))
    (seen, fresh), (other_seen, other_fresh) = ((runs[::2], runs[1::2]) for runs in (one, two))
    event = _best_event(seen, other_seen, delta)
    return max(
        _limit(event(fresh), event(other_fresh), delta),
        _limit(event(other_fresh), event(fresh), delta),
    )


def exceeds(epsilon: float, one: Runs, two: Runs, *, runs: int, delta: float = 0.0) -> bool:
    """Whether `lower_limit` of so many runs of each is above epsilon.

    The event is chosen by half of them. The others come in parts, and end where no outcome of those that are left could
    change what is said: it is always what all of them would have said.
    """
    half = runs // 2
    event = _best_event(*(np.asarray(draw(runs - half), dtype=np.float64) for draw in (one, two)), delta)
    hits, drawn = [0, 0], 0
    while True:
        left = half - drawn
        first, second = hits
        if not any(_of_hits(a + left, b, half, delta) > epsilon for a, b in ((first, second), (second, first))):
            return False
        if not left:
            return True
        part = min(left, max(1, half // PARTS))
        for place, draw in enumerate((one, two)):
            hits[place] += int(event(np.asarray(draw(part), dtype=np.float64)).sum())
        drawn += part


def _limit(likely: NDArray[np.bool_], unlikely: NDArray[np.bool_], delta: float) -> float:
    return _of_hits(int(likely.sum()), int(unlikely.sum()), likely.size, delta)


def _of_hits(hits: int, others: int, runs: int, delta: float) -> float:
    """ln((p - delta)/q) with the lower limit of p and the upper limit of q; four limits share the doubt."""
    doubt = DOUBT / 4
    low = float(stats.beta.ppf(doubt, hits, runs - hits + 1)) if hits else 0.0
    high = float(stats.beta.isf(doubt, others + 1, runs - others)) if others < runs else 1.0
    return math.log((low - delta) / high) if low > delta else 0.0


def _best_event(one: Floats, two: Floats, delta: float) -> Callable[[Floats], NDArray[np.bool_]]:
    """The half-line of one released number that tells the tables apart best, by what these runs allow to say."""
    best, place, edge, side = -1.0, 0, 0.0, True
    for column in range(one.shape[1]):
        both = np.unique(np.concatenate([one[:, column], two[:, column]]))
        for cut in np.unique(np.quantile(both, np.linspace(0, 1, 41), method="nearest")):
            above = one[:, column] >= cut, two[:, column] >= cut
            for upper in (True, False):
                first, second = above if upper else tuple(~each for each in above)
                found = max(_worth(first, second, delta), _worth(second, first, delta))
                if found > best:
                    best, place, edge, side = found, column, float(cut), upper
    return lambda runs: (runs[:, place] >= edge) == side


def _worth(likely: NDArray[np.bool_], unlikely: NDArray[np.bool_], delta: float) -> float:
    """A quick stand-in for the limit: normal tails instead of exact ones."""
    p, q, runs = likely.mean(), unlikely.mean(), likely.size
    low = p - 5 * math.sqrt(p * (1 - p) / runs + 1 / runs**2)
    high = q + 5 * math.sqrt(q * (1 - q) / runs) + 15 / runs
    return math.log((low - delta) / high) if low > delta else 0.0
