"""k-anonymity: rows in groups of at least k that share the ranges of everything but the secret, which stays exact.

Groups are made as is usual (LeFevre, DeWitt and Ramakrishnan 2006, 'Mondrian'): a group is cut at the median of its
widest column as long as both parts keep k rows; each group is published as the range of every column and the list of
its secrets. Nobody's row can be told from k - 1 others, and yet: whoever lies in no range is certainly outside, and a
group whose secrets agree tells them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core.base.arrays import Codes, Flags, Floats, IntArray
from core.base.errors import BadParameter
from core.schema.domain import Domain

USUAL_K = 5


@dataclass(frozen=True, eq=False)
class Anonymised:
    """Rows in groups of at least k; the column at place `secret` is left as it is."""

    name: str
    domain: Domain
    rows: Codes
    secret: int
    k: int = USUAL_K

    def __post_init__(self) -> None:
        if self.k < 1 or len(self.rows) < self.k:
            raise BadParameter("k", "must be at least 1 and at most the number of rows.")

    @cached_property
    def groups(self) -> list[IntArray]:
        """Places of the rows of each group."""
        found, open_groups = [], [np.arange(len(self.rows))]
        while open_groups:
            group = open_groups.pop()
            parts = self._cut(group)
            if parts is None:
                found.append(group)
            else:
                open_groups += parts
        return found

    def _cut(self, group: IntArray) -> tuple[IntArray, IntArray] | None:
        """At the median of the widest column that leaves both parts large enough."""
        if len(group) < 2 * self.k:
            return None
        rows = self.rows[group][:, self._others]
        widths = (rows.max(axis=0) - rows.min(axis=0)) / self._sizes
        for column in np.argsort(-widths):
            if widths[column] == 0:
                return None
            for low in (rows[:, column] < np.median(rows[:, column]), rows[:, column] <= np.median(rows[:, column])):
                if self.k <= int(low.sum()) <= len(group) - self.k:
                    return group[low], group[~low]
        return None

    @cached_property
    def _others(self) -> list[int]:
        return [place for place in range(len(self.domain)) if place != self.secret]

    @cached_property
    def _sizes(self) -> Floats:
        return np.array([max(1, self.domain[self.domain.names[place]].size - 1) for place in self._others], float)

    @cached_property
    def _ranges(self) -> tuple[Codes, Codes, IntArray]:
        """Lowest and highest code of every group and column, and how often it has each secret."""
        size = self.domain[self.domain.names[self.secret]].size
        low = np.stack([self.rows[group][:, self._others].min(axis=0) for group in self.groups])
        high = np.stack([self.rows[group][:, self._others].max(axis=0) for group in self.groups])
        held = np.stack([np.bincount(self.rows[group, self.secret], minlength=size) for group in self.groups])
        return low, high, held

    def suspicions(self, targets: Codes, reference: Codes) -> Mapping[str, Floats]:
        """Rows of the groups around a target that have its secret."""
        held = self._ranges[2]
        rows = (self._around(targets) @ held)[np.arange(len(targets)), targets[:, self.secret]]
        return {"groups": rows.astype(np.float64)}

    def guesses(self, targets: Codes, secret: int) -> Mapping[str, IntArray]:
        """What the groups around a target say most often; the most common secret where there is none."""
        if secret != self.secret:
            raise BadParameter("secret", "must be the column that was left as it is.")
        held = self._ranges[2]
        votes = self._around(targets) @ held + held.sum(axis=0) / (1 + held.sum())
        return {"groups": votes.argmax(axis=1)}

    def _around(self, targets: Codes) -> Flags:
        low, high, _ = self._ranges
        inside = np.ones((len(targets), len(low)), dtype=bool)
        for column, place in enumerate(self._others):
            mine = targets[:, place, None]
            inside &= (low[None, :, column] <= mine) & (mine <= high[None, :, column])
        return inside
