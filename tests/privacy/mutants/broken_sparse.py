"""Sparse vectors that are not private: the published ones (Lyu, Su and Li 2017), and some near misses.

Each is a replacement for one method of `AboveThreshold` or `OpenRun`.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from core.kernel.sparse_vector import AboveThreshold, OpenRun

ABOVE, OFFSET, TEST = AboveThreshold.above, AboveThreshold.offset, OpenRun.test


def no_query_noise(self: AboveThreshold, value: int, threshold: int, offset: int, noise: Any) -> bool:
    """Stoddard, Chen and Machanavajjhala 2014."""
    return value >= threshold + offset


def not_scaled_with_cutoff(self: AboveThreshold, value: int, threshold: int, offset: int, noise: Any) -> bool:
    """Lee and Clifton 2014."""
    return ABOVE(replace(self, cutoff=1), value, threshold, offset, noise)


def half_the_noise(self: AboveThreshold, value: int, threshold: int, offset: int, noise: Any) -> bool:
    """Noise for values that move to one side only, used for values that move to both."""
    return ABOVE(replace(self, comparing_epsilon=2 * self.comparing_epsilon), value, threshold, offset, noise)


def threshold_as_it_is(self: AboveThreshold, noise: Any) -> int:
    """A threshold without noise."""
    return 0


def threshold_too_sharp(self: AboveThreshold, noise: Any) -> int:
    """Threshold noise that is a fifth too small."""
    return OFFSET(replace(self, threshold_epsilon=self.threshold_epsilon * Fraction(5, 4)), noise)


def releases_the_compared_value(self: OpenRun, value: int, threshold: int, noise: Any, pay: Any) -> Any:
    """Roth 2011, lecture notes: the noisy value itself is released where it is above."""
    seen = []

    class Listening:
        def laplace(self, values: Any, **options: Any) -> Any:
            seen.append(noise.laplace(values, **options))
            return seen[-1]

    above = TEST(self, value, threshold, Listening(), pay)
    return int(seen[0][0]) if above else False


def never_stops(self: OpenRun, value: int, threshold: int, noise: Any, pay: Any) -> bool:
    """Chen, Xiao, Zhang and Xu 2015: no limit on the outcomes above."""
    return TEST(replace(self), value, threshold, noise, pay)


def keeps_its_offset(self: OpenRun, value: int, threshold: int, noise: Any, pay: Any) -> bool:
    """A new run goes on with the offset of the run before."""
    before = self.offset
    above = TEST(self, value, threshold, noise, pay)
    self.offset = before
    return above
