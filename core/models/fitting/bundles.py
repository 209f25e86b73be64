"""Tables that are counted together: one pass over the records serves all tables inside one small joint table.

Counting a table costs one pass over all records, whatever its size. Columns are therefore put into groups of few cells,
and all tables between the same groups are read off the groups' joint counts, which take one pass: among columns of
eight values one pass gives four 2-way tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Columns, Floats

MOST = 2**14
"""Cells of a joint table: beyond the processor's nearest cache a pass over the records costs more than it saves."""


@dataclass(frozen=True)
class Bundle:
    """Tables inside one joint table, whose columns are those of all parts in order."""

    parts: tuple[Columns, ...]
    tables: tuple[Columns, ...]

    @property
    def columns(self) -> Columns:
        return tuple(column for part in self.parts for column in part)


def bundled(tables: Iterable[Columns], sizes: Mapping[str, int], most: int = MOST) -> list[Bundle]:
    """Every table in exactly one bundle; a table that fits with no other has a bundle of its own."""
    wanted = list(tables)
    used = {name for columns in wanted for name in columns}
    groups = _groups([name for name in sizes if name in used], sizes, most ** (1 / max(map(len, wanted), default=1)))
    place = {name: index for index, group in enumerate(groups) for name in group}
    members: dict[tuple[Columns, ...], list[Columns]] = {}
    for columns in wanted:
        parts = tuple(groups[index] for index in sorted({place[name] for name in columns}))
        if prod(sizes[name] for part in parts for name in part) > most:
            parts = tuple((name,) for name in columns)
        members.setdefault(parts, []).append(columns)
    return [Bundle(parts, tuple(held)) for parts, held in members.items()]


def _groups(names: Sequence[str], sizes: Mapping[str, int], most: float) -> list[Columns]:
    """Columns of few cells side by side, in groups of at most `most` cells; a larger column is a group of its own."""
    groups: list[Columns] = []
    cells = 0
    for name in sorted(names, key=lambda name: sizes[name]):
        if groups and cells * sizes[name] <= most:
            groups[-1] = (*groups[-1], name)
            cells *= sizes[name]
        else:
            groups.append((name,))
            cells = sizes[name]
    return groups


class Records:
    """Records as codes, counted bundle by bundle. **Runtime** O(records) per bundle."""

    def __init__(self, codes: NDArray[np.int64], sizes: Mapping[str, int]) -> None:
        self._columns = dict(zip(sizes, codes.T, strict=True))
        self._count = len(codes)
        self._sizes = sizes
        self._parts: dict[Columns, NDArray[np.unsignedinteger]] = {}

    def bundles(self, tables: Iterable[Columns]) -> list[Bundle]:
        """Joint tables are kept far smaller than the number of records, else they would cost more than a pass."""
        return bundled(tables, self._sizes, min(MOST, self._count // 8))

    def places(self, bundle: Bundle) -> NDArray[np.intp]:
        """The cell of the bundle's joint table that each record is in."""
        if not bundle.parts:
            return np.zeros(self._count, dtype=np.intp)
        flat = self._part(bundle.parts[0]).astype(np.intp)
        for part in bundle.parts[1:]:
            flat *= self._cells(part)
            flat += self._part(part)
        return flat

    def joint(self, bundle: Bundle, places: NDArray[np.intp], weights: Floats) -> Floats:
        """Weighted counts of the bundle's joint table."""
        counted = np.bincount(places, weights=weights, minlength=self._cells(bundle.columns))
        shape = [self._sizes[name] for name in bundle.columns]
        return counted.astype(np.float64, copy=False).reshape(shape)

    def _cells(self, columns: Columns) -> int:
        return prod(self._sizes[name] for name in columns)

    def _part(self, part: Columns) -> NDArray[np.unsignedinteger]:
        """Codes of a part, worked out once and kept in the smallest type: there are many records, and many parts."""
        if part not in self._parts:
            flat = self._columns[part[0]].astype(np.intp)
            for name in part[1:]:
                flat = flat * self._sizes[name] + self._columns[name]
            self._parts[part] = flat.astype(np.min_scalar_type(self._cells(part) - 1))
        return self._parts[part]
