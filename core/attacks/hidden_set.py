"""From answers that are too good back to the rows: the lower bound of F section 3 as an attack.

A class shatters d records with margin gamma around witnesses r: for every subset T of them some query q_T weighs
members by r + gamma and the others by r - gamma. All witnesses lie within gamma of each other, as the paper's pieces
do. The table D_T holds one row at each member of a secret T of d/2 records. Whoever sees answers to all queries, as a
table D', takes the T* for which q_T*(D_T*) - q_T*(D') is smallest.

**Accuracy** if every answer is within e rows, |T - T*| + |T* - T| <= 4 e/gamma (lemma 2), so at least 1 - 4 e/(gamma d)
of the secret set come back. Hence no release with small e is private (theorem 2; `theory/lower_bounds.py`).
**Runtime** the score of a set is a sum over its members, so T* is the d/2 best records: O(d log d) for all C(d, d/2)
sets.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.base.arrays import Flags, Floats
from core.base.errors import BadParameter
from core.privacy.budget import Budget
from core.privacy.noise import Noise
from core.theory.bound import whole

MOST_RECORDS = 10_000


@dataclass(frozen=True, kw_only=True)
class HiddenSet:
    """d shattered records, of which half are secretly in the table."""

    members: Flags
    witnesses: Floats
    gamma: float

    def __post_init__(self) -> None:
        if not 0 < self.gamma <= 0.5:
            raise BadParameter("gamma", "must be above 0 and at most 0.5.")
        low, high = float(self.witnesses.min()), float(self.witnesses.max())
        if low - self.gamma < -1e-12 or high + self.gamma > 1 + 1e-12 or high - low > self.gamma + 1e-12:
            raise BadParameter("witnesses", "must lie within gamma of each other, and their weights between 0 and 1.")

    @property
    def table(self) -> Floats:
        """D_T: a row at each member."""
        return self.members.astype(np.float64)

    def error(self, released: Floats) -> float:
        """The largest error of a query of the class: |sum of r x| + gamma sum of |x|, x the difference of the tables.

        Every pattern of signs belongs to a query, so the one that agrees with the signs of x is the worst.
        """
        off = self.table - released
        return float(abs(self.witnesses @ off) + self.gamma * np.abs(off).sum())

    def rebuilt(self, released: Floats) -> Flags:
        """T*: of each record, what its membership adds to q_T(D_T) - q_T(D') is r + gamma - 2 gamma D'(record)."""
        added = self.witnesses + self.gamma - 2 * self.gamma * np.asarray(released)
        found = np.zeros(len(self.members), dtype=bool)
        found[np.argsort(added, kind="stable")[: len(found) // 2]] = True
        return found

    def share(self, released: Floats) -> float:
        """The share of the secret members that come back; half do by guessing."""
        return float(np.mean(self.rebuilt(released)[self.members]))

    def promised(self, error: float) -> float:
        """What lemma 2 promises of that share, at this error; guessing is not counted."""
        return max(0.0, 1 - 4 * error / (self.gamma * len(self.members)))


def hidden_set(records: int, gamma: float) -> HiddenSet:
    """A uniformly random half of so many records, and witnesses at random within gamma of each other."""
    whole("records", records, least=2)
    if records % 2 or records > MOST_RECORDS:
        raise BadParameter("records", f"must be an even number of at most {MOST_RECORDS:,}.")
    if not 0 < gamma <= 0.5:
        raise BadParameter("gamma", "must be above 0 and at most 0.5.")
    noise = Noise()
    members = np.zeros(records, dtype=bool)
    members[np.argsort(noise.keys(records))[: records // 2]] = True
    low, high = max(gamma, 0.5 - gamma / 2), min(1 - gamma, 0.5 + gamma / 2)
    drawn = noise.below(1001, records) / 1000
    return HiddenSet(members=members, witnesses=low + (high - low) * drawn, gamma=gamma)


def within(hidden: HiddenSet, most: float) -> Floats:
    """A table whose every answer is within `most` rows: each record is off by a random sign of the same size.

    An error of x in every record costs a query at most (the largest r + gamma) d x.
    """
    size = most / ((float(hidden.witnesses.max()) + hidden.gamma) * len(hidden.members))
    signs = 2 * Noise().below(2, len(hidden.members)) - 1
    return hidden.table + size * signs


def by_budget(hidden: HiddenSet, budget: Budget) -> Floats:
    """Every record counted with this desk's noise for adding or removing a row, which changes one count by 1."""
    counts, noise = hidden.members.astype(np.int64), Noise()
    return noise.laplace(counts, epsilon=budget.epsilon, sensitivity=1).astype(np.float64)
