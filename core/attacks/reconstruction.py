"""Reconstruction: too many answers that are too exact give a secret column back.

n people have one secret bit each. Somebody publishes, for m random sets of people, how many in the set have the bit,
each answer off by some noise. The attacker knows who is in which set, looks for bits that explain the answers, and
rounds them:

- by a linear program: the bits from 0 to 1 whose largest error is smallest. If every answer is within E of the truth,
  what it finds is within E of every answer, as Dinur and Nissim's attacker asks, without being told E;
- by least squares, which is faster and nearly as good.

**Accuracy** with E = o(sqrt n) and m = n (log n)^2 random sets, all but o(n) bits come back (Dinur and Nissim 2003,
theorem 5). With noise that keeps (epsilon, delta) for all m answers together no attacker expects to find more than
(e^epsilon + delta)/(1 + e^epsilon) of random bits: each bit is an even bet (`core.base.odds.most_won`).
**Runtime** some hundredths of a second for 100 people and 800 sets.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import IntArray
from core.base.errors import BadParameter
from core.privacy.budget import Budget
from core.privacy.noise import Noise
from core.privacy.spendable import rho_for
from core.theory.bound import whole

MOST_PEOPLE, MOST_SETS = 200, 1_600
"""The linear program then takes about a second."""


@dataclass(frozen=True, kw_only=True)
class Recovered:
    """The share of the secret bits that an attacker finds; half of random bits are found by guessing."""

    linear_program: float
    least_squares: float


@dataclass(frozen=True, kw_only=True)
class InventedColumn:
    """Secret bits of invented people, the public sets, and how many bits are set in each."""

    bits: IntArray
    sets: IntArray
    """One line per set, 1 for each person in it."""

    @property
    def counts(self) -> IntArray:
        return np.asarray(self.sets @ self.bits, dtype=np.int64)

    def recovered(self, answers: NDArray[Any]) -> Recovered:
        """What both attackers make of the answers."""
        return Recovered(
            linear_program=self._share(by_linear_program(self.sets, answers)),
            least_squares=self._share(by_least_squares(self.sets, answers)),
        )

    def _share(self, guessed: IntArray) -> float:
        return float(np.mean(guessed == self.bits))


def invented_column(people: int, sets: int) -> InventedColumn:
    """Fair bits and uniformly random sets."""
    for parameter, value, most in (("people", people, MOST_PEOPLE), ("sets", sets, MOST_SETS)):
        whole(parameter, value)
        if value > most:
            raise BadParameter(parameter, f"must be at most {most:,}, so that the attack is over in seconds.")
    noise = Noise()
    return InventedColumn(bits=noise.below(2, people), sets=noise.below(2, sets * people).reshape(sets, people))


def within(counts: IntArray, most: int) -> IntArray:
    """Each count off by a uniform whole number from -most to most: what protects nobody while most is small."""
    whole("most", most, least=0)
    return counts + Noise().below(2 * most + 1, len(counts)) - most


def by_budget(counts: IntArray, budget: Budget) -> IntArray:
    """Each count with the noise of this desk for all of them together.

    **Privacy** one person's bit moves each of the m counts by at most 1, so m in L1 and sqrt(m) in L2.
    """
    noise, sets = Noise(), len(counts)
    if budget.delta == 0:
        return noise.laplace(counts, epsilon=budget.epsilon, sensitivity=sets)
    return noise.gaussian(counts, rho=rho_for(budget), sensitivity_squared=sets)


def noise_size(sets: int, budget: Budget) -> float:
    """The standard deviation of that noise, to less than one row: sqrt(2) m/epsilon or sqrt(m/(2 rho))."""
    if budget.delta == 0:
        return math.sqrt(2) * sets / float(budget.epsilon)
    return math.sqrt(sets / (2 * float(rho_for(budget))))


def by_linear_program(sets: NDArray[Any], answers: NDArray[Any]) -> IntArray:
    """Bits whose largest error over all answers is smallest, rounded."""
    from scipy.optimize import linprog  # takes a third of a second to load, for which a page would wait

    count, people = sets.shape
    slack = np.ones((count, 1))
    found = linprog(
        np.append(np.zeros(people), 1.0),
        A_ub=np.block([[sets, -slack], [-sets, -slack]]),
        b_ub=np.concatenate([answers, -np.asarray(answers)]),
        bounds=[(0, 1)] * people + [(0, None)],
        method="highs",
    )
    assert found.x is not None, "any bits fit with enough error"
    return _rounded(found.x[:people])


def by_least_squares(sets: NDArray[Any], answers: NDArray[Any]) -> IntArray:
    """Bits whose squared errors sum to the least, rounded."""
    found, *_ = np.linalg.lstsq(np.asarray(sets, np.float64), np.asarray(answers, np.float64), rcond=None)
    return _rounded(found)


def _rounded(found: NDArray[Any]) -> IntArray:
    return (np.asarray(found) > 0.5).astype(np.int64)
