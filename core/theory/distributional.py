"""Distributional privacy and differential privacy as checks of small mechanisms (B section 7).

A mechanism is known by its law: the probability of every output, for every database. A database is a set of n elements
out of a population. **Differential privacy** compares databases that differ in one element. **Distributional privacy**
compares two databases that are drawn from one population without replacement, and may fail for a share beta of such
pairs: then a release tells about the population, and not even which of its samples was seen.

Distributional privacy for every population and beta < 2/(n + 1)^2 implies differential privacy (theorem 7.1: among n +
1 elements two neighbours are the two draws with probability 2/(n + 1)^2). The other way is false (theorem 7.3): noise
of scale 1/epsilon on the **mirrored mod** of a sum keeps epsilon-differential privacy, as the function moves by at most
1 with each element; but it takes all its values on samples of one population, so whoever sees it tells samples apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from core.base.arrays import Floats
from core.base.errors import BadParameter
from core.theory.bound import whole

OutputLaw = Callable[[tuple[int, ...]], Mapping[object, float]]
"""The probabilities of all outputs on a database, given as the places of its elements in the population, ascending."""
_TOLERANCE = 1e-9


def mirrored_mod(total: int, period: int) -> int:
    """F_m: up from 0 to m - 1, then down again, so that neighbouring totals never differ by more than 1 (B 7.2).

    >>> [mirrored_mod(total, 3) for total in range(8)]
    [0, 1, 2, 2, 1, 0, 0, 1]
    """
    whole("period", period)
    return total % period if total % (2 * period) < period else (-total - 1) % period


def loss(one: Mapping[object, float], other: Mapping[object, float]) -> float:
    """The largest logarithm of a ratio of probabilities of one output under two laws, either way."""
    worst = 0.0
    for output in one.keys() | other.keys():
        first, second = one.get(output, 0.0), other.get(output, 0.0)
        if first == 0 == second:
            continue
        worst = max(worst, math.inf if 0 in (first, second) else abs(math.log(first) - math.log(second)))
    return worst


def differential_loss(law: OutputLaw, population: int, rows: int) -> float:
    """The smallest epsilon with which a law is differentially private on all databases of so many elements."""
    databases = _databases(population, rows)
    laws = {database: law(database) for database in databases}
    worst = 0.0
    for database in databases:
        for gone in database:
            for new in set(range(population)) - set(database):
                other = tuple(sorted((set(database) - {gone}) | {new}))
                if database < other:
                    worst = max(worst, loss(laws[database], laws[other]))
    return worst


def distributional_miss(law: OutputLaw, population: int, rows: int, epsilon: float) -> float:
    """The beta of one uniform population: the share of pairs of draws that are further apart than epsilon.

    Both databases are drawn from the same population, each without replacement and independently of the other.
    """
    laws = [law(database) for database in _databases(population, rows)]
    far = sum(2 for one, other in combinations(laws, 2) if loss(one, other) > epsilon + _TOLERANCE)
    return far / len(laws) ** 2


@dataclass(frozen=True, kw_only=True)
class NoisyTotal:
    """A function of a sum of bits plus discrete Laplace noise: P(z) proportional to exp(-|z|/scale).

    Of two totals it is exact how far apart two outputs are: |f(s) - f(t)|/scale, reached far out in either tail.
    """

    function: Callable[[int], int]
    scale: float

    def loss(self, one: int, other: int) -> float:
        return abs(self.function(one) - self.function(other)) / self.scale

    def differential(self, rows: int) -> float:
        """The smallest epsilon on n bits: one element changes the sum by at most 1."""
        return max(self.loss(total, total + 1) for total in range(rows))

    def distributional(self, rows: int, ones: int, population: int, epsilon: float) -> float:
        """The beta of draws of n out of a population with so many ones: both sums are hypergeometric."""
        chances = sums_of_draws(rows, ones, population)
        totals = np.flatnonzero(chances)
        values = np.array([self.function(int(total)) for total in totals])
        apart = np.abs(values[:, None] - values[None, :]) > epsilon * self.scale + _TOLERANCE
        return float(chances[totals] @ apart @ chances[totals])


def sums_of_draws(rows: int, ones: int, population: int) -> Floats:
    """P(sum of n bits that are drawn without replacement), for every sum from 0 to n."""
    if not 0 <= ones <= population or not 1 <= rows <= population:
        raise BadParameter("population", "must hold at least as many elements as are drawn, and as are ones.")

    def log_comb(top: int, bottom: int) -> float:
        return math.lgamma(top + 1) - math.lgamma(bottom + 1) - math.lgamma(top - bottom + 1)

    found = np.zeros(rows + 1)
    for total in range(max(0, rows - population + ones), min(rows, ones) + 1):
        chance = log_comb(ones, total) + log_comb(population - ones, rows - total) - log_comb(population, rows)
        found[total] = math.exp(chance)
    return found / found.sum()


@dataclass(frozen=True, kw_only=True)
class SeparatingExample:
    """The example of theorem 7.3 with its numbers."""

    differential: float
    """Epsilon of the noisy mirrored mod."""
    missed: float
    """Share of pairs of draws that it tells apart by more than `told_apart`."""
    told_apart: float


def separation(epsilon: float, rows: int, ones: int, population: int, told_apart: float = 1.0) -> SeparatingExample:
    """Period 2/epsilon and noise of scale 1/epsilon, as in the proof; `told_apart` just below 1 is the proof's."""
    if not 0 < epsilon <= 2:
        raise BadParameter("epsilon", "must be above 0 and at most 2, so that there is a period of at least 1.")
    period = math.floor(2 / epsilon)
    released = NoisyTotal(function=lambda total: mirrored_mod(total, period), scale=1 / epsilon)
    return SeparatingExample(
        differential=released.differential(rows),
        missed=released.distributional(rows, ones, population, math.nextafter(told_apart, 0.0) - 2 * _TOLERANCE),
        told_apart=told_apart,
    )


def _databases(population: int, rows: int) -> Sequence[tuple[int, ...]]:
    whole("population", population)
    whole("rows", rows)
    if rows > population or math.comb(population, rows) > 5_000:
        raise BadParameter("population", "must have from as many elements as rows up to 5,000 databases of them.")
    return list(combinations(range(population), rows))
