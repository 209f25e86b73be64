"""The exact probability of what a sparse vector says, its secret offset summed out in closed form.

With r = exp(-1/b) a discrete Laplace number v of scale b has P(v >= w) = r^w/(1 + r) for w > 0 and one minus
r^(1 - w)/(1 + r) otherwise. So between two places where a comparison turns over, every factor is an exponential of the
offset z or one minus such an exponential that is at most 1/2. The product is expanded and each term is a geometric
series: no approximation, and no loss of digits but that of a few additions, however fine the grid is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise


@dataclass(frozen=True)
class Comparison:
    """Noise v of a scale, compared as v >= distance + offset."""

    distance: int
    scale: float
    above: bool


def log_chance(offset_scale: float, comparisons: Sequence[Comparison]) -> float:
    """Logarithm of the probability of these outcomes of one run."""
    return _log_chance(offset_scale, tuple(comparisons))


@lru_cache(maxsize=2**17)
def _log_chance(offset_scale: float, comparisons: tuple[Comparison, ...]) -> float:
    turns = sorted({0, *(1 - each.distance for each in comparisons)})
    edges = [-math.inf, *turns, math.inf]
    whole = math.fsum(_part(offset_scale, comparisons, low, high - 1) for low, high in pairwise(edges))
    return math.log(whole) if whole > 0 else -math.inf


def _part(offset_scale: float, comparisons: Sequence[Comparison], low: float, high: float) -> float:
    """The sum over offsets from low to high, between which no comparison turns over."""
    inside = low if math.isfinite(low) else high
    log_start, slope = math.log(math.tanh(0.5 / offset_scale)), (-1 if inside >= 0 else 1) / offset_scale
    small: list[tuple[float, float]] = []
    for each in comparisons:
        tail, step, of_above = _tail(each, inside)
        if of_above == each.above:
            log_start, slope = log_start + tail, slope + step
        else:
            small.append((tail, step))
    terms = [(1, log_start, slope)]
    for tail, step in small:
        terms += [(-sign, start + tail, rise + step) for sign, start, rise in terms]
    return math.fsum(sign * _geometric(start, rise, low, high) for sign, start, rise in terms)


def _tail(each: Comparison, offset: float) -> tuple[float, float, bool]:
    """The smaller of P(above) and P(below), as log-value at offset 0 and slope, and whether it is that of above."""
    log_half = -math.log1p(math.exp(-1 / each.scale))
    if each.distance + offset > 0:
        return log_half - each.distance / each.scale, -1 / each.scale, True
    return log_half - (1 - each.distance) / each.scale, 1 / each.scale, False


def _geometric(start: float, rise: float, low: float, high: float) -> float:
    """The sum of exp(start + rise z) over all whole z from low to high."""
    if math.isinf(low):
        return math.exp(start + rise * high) / -math.expm1(-rise)
    if math.isinf(high):
        return math.exp(start + rise * low) / -math.expm1(rise)
    if high < low:
        return 0.0
    if abs(rise) * (high - low + 1) < 1e-12:
        return math.exp(start + rise * low) * (high - low + 1)
    if rise > 0:
        return math.exp(start + rise * high) * math.expm1(-rise * (high - low + 1)) / math.expm1(-rise)
    return math.exp(start + rise * low) * math.expm1(rise * (high - low + 1)) / math.expm1(rise)
