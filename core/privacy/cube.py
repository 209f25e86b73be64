"""Noise for many numbers of which a unit moves each one by a little: one point of a cube of random size.

Laplace noise for d numbers, all of which may move by 1, has to pay for them one by one: each gets noise of mean d/rate.
Drawn together they need half of that. Neighbours then lie in a cube about each other, so the chance of a vector z of
noise may depend on its largest number |z| alone and has to fall by a factor of at most e^rate where |z| grows by 1:
the mechanism of Hardt and Talwar 2010 for this norm, over the whole numbers and drawn exactly.

**Law** A size R is the sum of d + 1 independent geometric numbers G with P(G >= g) = e^(-rate g), and z is uniform in
the cube of all whole vectors with |z| <= R + h, where h = ceil(d/2).

**Privacy** Let q = e^-rate. P(R = r) is in proportion to C(r + d, d) q^r, so a vector with |z| = k has the chance

    p(z) = f(max(0, k - h)),   f(j) = sum over r >= j of g(r),   g(r) ~ C(r + d, d) q^r / (2 r + 2 h + 1)^d.

From r to r + 1 g changes by a factor of at least q: that is to say, the product over i = 1..d of (r + 1 + i)/(r + i) is
at least ((r + h + 3/2)/(r + h + 1/2))^d. In logarithms the left side is the integral over t from 0 to 1 of the sum of
1/(r + t + i), which is at least d/(r + t + (d + 1)/2) because 1/x is convex (Jensen), and that is at least
d/(r + t + h + 1/2), whose integral is the right side, because h >= d/2. Hence f(j) >= f(j + 1) = sum over r >= j of
g(r + 1) >= q f(j). If no number moves by more than D, |z| moves by at most D, and p(z) by a factor of at most
e^(rate D): numbers plus noise are (rate D)-differentially private.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from core.privacy import samplers
from core.privacy.samplers import SAFE, WideInts


def cube(count: int, scale: Fraction) -> WideInts:
    """So many numbers of noise of this law; `scale` is 1/rate."""
    if count == 0:
        return np.zeros(0, dtype=np.int64)
    half = sum(int(size) for size in sizes(count + 1, scale.numerator, scale.denominator)) + margin(count)
    return samplers.below(2 * half + 1, count) - half


def margin(count: int) -> int:
    """h: what the cube of so many numbers is larger by than the sum that was drawn."""
    return -(-count // 2)


def sizes(count: int, numerator: int, denominator: int) -> WideInts:
    """Geometric numbers G of scale t/s = numerator/denominator: P(G >= g) = e^(-g s/t).

    U below t kept with probability exp(-U/t), plus t times V with P(V >= v) = e^-v, is X with P(x) ~ exp(-x/t); then
    floor(X/s) is such a number (Canonne, Kamath and Steinke 2020, algorithm 2, before it draws a sign).
    """
    kept: list[WideInts] = []
    missing = count
    while missing:
        # As many trials each time as numbers are missing: which of them are kept says nothing about those to come.
        units = samplers.below(numerator, missing)
        units = units[samplers.bernoulli_exp(units, numerator)]
        kept.append(units)
        missing -= len(units)
    units, whole = np.concatenate(kept), samplers.geometric(count)
    if max(numerator * (int(whole.max()) + 1), denominator) > SAFE:
        units, whole = units.astype(object), whole.astype(object)
    return np.asarray((units + numerator * whole) // denominator)


def deviation(count: int, scale: float) -> float:
    """The standard deviation of each of so many numbers.

    A uniform number in [-m, m] has the variance m (m + 1)/3, with m = R + h; R has the mean (d + 1) q/(1 - q) and the
    variance (d + 1) q/(1 - q)^2. So it is about (d + 1) scale/sqrt(3), where Laplace noise has d scale sqrt(2).
    """
    ends = -math.expm1(-1 / scale)
    mean = (count + 1) * (1 - ends) / ends
    half = mean + margin(count)
    return math.sqrt((mean / ends + half**2 + half) / 3)
