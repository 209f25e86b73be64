"""Noisy tables of counts: the one step in which most mechanisms touch private data.

**Privacy** A unit changes one table by at most `unit.l1` in L1 and `unit.l2_squared` in squared L2. Table t gets the
share s_t of the budget: discrete Laplace noise of scale unit.l1/(s_t epsilon), which is s_t epsilon-DP, or discrete
Gaussian noise of variance unit.l2_squared/(2 s_t rho), which is s_t rho-zCDP. The shares sum to at most 1, and
composition adds them up: plainly for pure epsilon, as Rényi divergences where delta is above 0 (`accounting.py`).

**Accuracy** The expected absolute error of a cell is the Laplace scale, or sigma sqrt(2/pi).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from core.base.errors import BadParameter
from core.mechanisms.kit.protocol import Expected
from core.privacy.accounting import capacity, order_for, rho_for, units
from core.privacy.budget import Budget
from core.privacy.events import Cost, Gaussian, Laplace
from core.privacy.noise import NoiseSource
from core.privacy.unit import Unit
from core.queries.kit.protocol import Columns, QueryClass
from core.schema.domain import Domain
from core.table.counts import Counts

GRAIN = 2**20
"""Shares are whole multiples of 1/GRAIN-th, so that they add up exactly."""


@dataclass(frozen=True, eq=False)
class Measurement:
    """One table of counts with noise."""

    columns: Columns
    values: NDArray[np.int64]
    sigma: float
    """Standard deviation of the noise in each cell."""


@dataclass(frozen=True)
class Portion:
    """One table and its part of the budget."""

    columns: Columns
    event: Laplace | Gaussian

    def sigma(self, unit: Unit) -> float:
        if isinstance(self.event, Laplace):
            return math.sqrt(2) * unit.l1 / float(self.event.epsilon)
        return math.sqrt(unit.l2_squared / (2 * float(self.event.rho)))

    def mean_error(self, unit: Unit) -> float:
        if isinstance(self.event, Laplace):
            return unit.l1 / float(self.event.epsilon)
        return self.sigma(unit) * math.sqrt(2 / math.pi)

    def tail(self, unit: Unit, probability: float) -> float:
        """The noise of one cell exceeds this with at most the given probability."""
        if isinstance(self.event, Laplace):
            return self.mean_error(unit) * math.log(1 / probability)
        return self.sigma(unit) * math.sqrt(2 * math.log(2 / probability))


def wanted(queries: Iterable[QueryClass], domain: Domain) -> dict[Columns, float]:
    """The tables that the query classes need, each with its weight; a table needed twice counts twice."""
    weights: dict[Columns, float] = {}
    for query in queries:
        own = getattr(query, "weight_of", None)
        for columns, weight in (own(domain) if own else dict.fromkeys(query.tables(domain), 1.0)).items():
            key = tuple(name for name in domain.names if name in columns)
            weights[key] = weights.get(key, 0.0) + weight
    return weights


def portions(
    weights: dict[Columns, float], domain: Domain, budget: Budget, kind: type[Laplace] | type[Gaussian]
) -> tuple[Portion, ...]:
    """Split a budget over tables by a power of (weight x cells).

    For the smallest weighted sum of absolute errors of separate tables, Lagrange's rule says epsilon_t ~ power 1/2
    where the epsilon_t add up (pure Laplace), 1/3 where their squares do (Laplace with a delta), and rho_t ~ power 2/3.
    But tables share columns, and small ones help the large ones through consistency: half of each power measured 8 %
    better in mean and 15-25 % better in the largest error (2-way tables of census data, epsilon 1).
    """
    power = 1 / 3 if kind is Gaussian else 1 / 4 if budget.pure else 1 / 6
    shares = {columns: (weight * domain.cells(columns)) ** power for columns, weight in weights.items()}
    return divide(shares, budget, kind)


def divide(shares: dict[Columns, float], budget: Budget, kind: type[Laplace] | type[Gaussian]) -> tuple[Portion, ...]:
    """Exact portions in proportion to the given shares, as large as the budget allows."""
    whole = sum(shares.values())
    grains = {columns: max(1, round(GRAIN * value / whole)) for columns, value in shares.items()}
    every = sum(grains.values())
    if kind is Gaussian:
        amount = rho_for(budget)
    elif budget.pure:
        amount = budget.epsilon
    else:
        amount = _composed(tuple(Fraction(grain, every) for grain in grains.values()), budget)
    return tuple(Portion(columns, kind(amount * Fraction(grain, every))) for columns, grain in grains.items())


@lru_cache(maxsize=256)
def _composed(parts: tuple[Fraction, ...], budget: Budget) -> Fraction:
    """The largest sum of epsilons, in these parts, that many Laplace events may have within an (epsilon, delta) budget.

    Composition over many events costs less than the plain sum, so this lies above the budget's epsilon for many tables.
    """
    held, order = capacity(budget), order_for(budget)

    def fits(steps: int) -> bool:
        return units(Cost.of(Laplace(part * Fraction(steps, GRAIN)) for part in parts), order) <= held

    low, high = 0, GRAIN
    while fits(high):
        low, high = high, 2 * high
    while high - low > max(1, low // 2**12):
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    if low == 0:
        raise BadParameter("epsilon", "is too small to measure anything at this delta; try 1.")
    return Fraction(low, GRAIN)


def measure(counts: Counts, portion: Portion, noise: NoiseSource) -> Measurement:
    """Count one table and add the noise its portion pays for."""
    table = counts.marginal(portion.columns)
    if isinstance(portion.event, Laplace):
        noisy = noise.laplace(table, epsilon=portion.event.epsilon, sensitivity=counts.unit.l1)
    else:
        noisy = noise.gaussian(table, rho=portion.event.rho, sensitivity_squared=counts.unit.l2_squared)
    return Measurement(portion.columns, noisy, portion.sigma(counts.unit))


def price(portions: Sequence[Portion]) -> Cost:
    return Cost.of(portion.event for portion in portions)


def expected_of(portions: Sequence[Portion], domain: Domain, unit: Unit, about: str) -> Expected:
    """Errors of the noisy tables before any post-processing; union bound over all cells for the largest."""
    cells = [domain.cells(portion.columns) for portion in portions]
    every = sum(cells)
    mean = sum(size * portion.mean_error(unit) for size, portion in zip(cells, portions, strict=True)) / every
    worst = max(portion.tail(unit, 0.05 / every) for portion in portions)
    return Expected(mean=mean, worst=worst, about=about)
