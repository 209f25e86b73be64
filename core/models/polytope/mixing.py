"""Whether many chains have forgotten where they started: split R-hat and the effective number of draws.

Both are computed from answers along the walk, one array of shape (times, chains) per question. R-hat compares the
spread between half-chains with the spread within them and tends to 1; an effective size says how many independent
draws would estimate the mean as well (Gelman et al. 2013, section 11.4; Geyer 1992 for where to cut the sum of
autocorrelations). They can show that a walk has NOT mixed; they never prove that it has. A question that every
histogram answers alike, such as about all records, says nothing about a walk and does not count.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from core.base.arrays import Floats

ALIKE = 1e-12
"""Shares of a total of 1 that differ by less differ by rounding only."""


@dataclass(frozen=True, kw_only=True)
class Mixing:
    """The worst question of a walk."""

    rhat: float
    """1 is perfect; below 1.05 is usually called good."""
    effective: float
    """Independent draws that the walk is worth, for the question where that is least."""

    @classmethod
    def perfect(cls, draws: int) -> Mixing:
        """Of independent draws."""
        return cls(rhat=1.0, effective=float(draws))

    @classmethod
    def of(cls, answers: Floats) -> Mixing:
        """Answers of shape (times, chains, questions), at least four times."""
        lines = [line for line in np.moveaxis(answers, 2, 0) if np.ptp(line) > ALIKE]
        if not lines:
            return cls.perfect(answers.shape[1])
        return cls(rhat=max(map(split_rhat, lines)), effective=min(map(effective, lines)))

    @property
    def good(self) -> bool:
        return self.rhat <= 1.05


def split_rhat(draws: Floats) -> float:
    """Potential scale reduction of (times, chains), each chain cut into halves; infinite if every half stands still
    at another place."""
    half = len(draws) // 2
    split = np.concatenate([draws[:half], draws[-half:]], axis=1)
    within, means = float(split.var(axis=0, ddof=1).mean()), split.mean(axis=0)
    between = half * float(means.var(ddof=1))
    if within <= 0:
        return 1.0 if between <= 0 else math.inf
    return math.sqrt(((half - 1) / half * within + between / half) / within)


def effective(draws: Floats) -> float:
    """Effective number of independent draws in (times, chains), at most the number of draws."""
    times, chains = draws.shape
    centred = draws - draws.mean(axis=0)
    covariance = np.array([(centred[: times - lag] * centred[lag:]).sum() / (times * chains) for lag in range(times)])
    within = covariance[0] * times / (times - 1)
    total = (times - 1) / times * within + (float(draws.mean(axis=0).var(ddof=1)) if chains > 1 else 0.0)
    if total <= 0:
        return float(draws.size)
    related = 1 - (within - covariance) / total
    time = -1.0
    for lag in range(0, times - 1, 2):
        pair = float(related[lag] + related[lag + 1])
        if pair < 0:
            break
        time += 2 * pair
    return draws.size / max(time, 1.0)
