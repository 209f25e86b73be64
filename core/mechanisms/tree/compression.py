"""Merge the rare values of each column into one cell, and spread them out again in the records.

Which values are rare is decided from noisy counts, so it is public, and the kernel sees the table through it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Columns, Floats
from core.models.points import Points
from core.schema.domain import Domain, Integers


@dataclass(frozen=True, eq=False)
class Grouping:
    """The cells of one column, grouped."""

    groups: NDArray[np.int64]
    """The group of every cell; groups are numbered from 0 and none is empty."""
    inside: Floats
    """The estimated share of every cell in its group."""

    @classmethod
    def rare(cls, counts: Floats, threshold: float) -> Grouping:
        """Values with an estimated count below the threshold form the last group."""
        rare = counts < threshold
        if rare.sum() < 2:
            return cls(np.arange(counts.size), np.ones(counts.size))
        groups = np.where(rare, np.count_nonzero(~rare), np.cumsum(~rare) - 1)
        mass = counts[rare].sum()
        shares = counts[rare] / mass if mass > 0 else np.full(int(rare.sum()), 1 / rare.sum())
        inside = np.ones(counts.size)
        inside[rare] = shares
        return cls(groups, inside)

    @property
    def size(self) -> int:
        return int(self.groups.max()) + 1

    @property
    def trivial(self) -> bool:
        return self.size == self.groups.size

    def merged(self, table: NDArray[np.number], axis: int) -> NDArray[np.number]:
        """Sums over the groups along one axis."""
        if self.trivial:
            return table
        order = np.argsort(self.groups, kind="stable")
        starts = np.searchsorted(self.groups[order], np.arange(self.size))
        return np.asarray(np.add.reduceat(table.take(order, axis=axis), starts, axis=axis))


@dataclass(frozen=True, eq=False)
class Compression:
    """A grouping for every column, and the schema of the groups."""

    original: Domain
    groupings: Mapping[str, Grouping]

    @property
    def domain(self) -> Domain:
        return Domain(
            tuple(Integers(name=name, low=0, high=self.groupings[name].size - 1) for name in self.original.names)
        )

    def merged(self, table: NDArray[np.int64], columns: Sequence[str]) -> NDArray[np.int64]:
        for axis, column in enumerate(columns):
            table = self.groupings[column].merged(table, axis)  # type: ignore[assignment]
        return table

    def expanded(self, table: Floats, columns: Columns) -> Floats:
        """A table over groups as a table over cells: inside a group in proportion to the one-way estimate."""
        for axis, column in enumerate(columns):
            grouping = self.groupings[column]
            if not grouping.trivial:
                shape = [-1 if place == axis else 1 for place in range(table.ndim)]
                table = table.take(grouping.groups, axis=axis) * grouping.inside.reshape(shape)
        return table

    def decoded(self, points: Points, generator: np.random.Generator) -> Points:
        """Points with cells in place of groups, drawn so that each cell gets its exact share of the group's weight.

        Points may have further columns behind those of the schema, which are left out.
        """
        codes = points.codes[:, : len(self.original)].copy(order="F")
        for axis, name in enumerate(self.original.names):
            grouping = self.groupings[name]
            if grouping.trivial:
                continue
            cells = np.argsort(grouping.groups, kind="stable")
            heads = np.searchsorted(grouping.groups[cells], np.arange(grouping.size))
            sizes = np.bincount(grouping.groups)
            codes[:, axis] = cells[heads[points.codes[:, axis]]]
            for group in np.flatnonzero(sizes > 1):
                members = np.flatnonzero(points.codes[:, axis] == group)
                values = cells[heads[group] : heads[group] + sizes[group]]
                members = generator.permutation(members)
                height = np.cumsum(points.weights[members])
                if members.size and height[-1] > 0:
                    middle = (height - points.weights[members] * generator.random()) / height[-1]
                    steps = np.cumsum(grouping.inside[values])
                    found = np.searchsorted(steps / steps[-1], middle, side="right")
                    codes[members, axis] = values[np.minimum(found, values.size - 1)]
        return Points(self.original, codes, points.weights)
