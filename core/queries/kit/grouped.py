"""A coarse table: a few columns whose values are put into public groups."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Columns, Floats, IntArray
from core.table.counts import Source


@dataclass(frozen=True, eq=False)
class GroupedTable:
    """The counts of all combinations of groups; a group holds any values of its column."""

    columns: Columns
    groups: tuple[IntArray, ...]
    """For every column the group of each of its values, from 0 on."""
    denominator: ClassVar[int] = 1

    @cached_property
    def shape(self) -> tuple[int, ...]:
        return tuple(int(each.max()) + 1 for each in self.groups)

    def total(self, source: Source) -> NDArray[Any]:
        return self.merged(source.marginal(self.columns))

    def merged(self, table: NDArray[Any]) -> Floats:
        """A table of all values, summed over the values of each group."""
        summed = np.bincount(self._places.ravel(), weights=table.ravel(), minlength=math.prod(self.shape))
        return summed.astype(np.float64).reshape(self.shape)

    def spread(self, table: NDArray[Any]) -> NDArray[Any]:
        """A table of groups as one of all values: each value has what its group has."""
        return table.ravel()[self._places]

    def picked(self, table: NDArray[Any]) -> NDArray[Any]:
        """A table of all values in which those of a group are the same, as one of groups."""
        return table[np.ix_(*(np.unique(each, return_index=True)[1] for each in self.groups))]

    @cached_property
    def _places(self) -> IntArray:
        return np.ravel_multi_index(np.ix_(*self.groups), self.shape)
