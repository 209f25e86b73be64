"""Rows that are read cell by cell: every column is kept as its distinct values and the place of each row's among them.

Four bytes a cell and each value once, so a sheet of a million rows takes megabytes where Python objects take gigabytes.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.schema.attributes import Attribute
from core.schema.spellings import text_of
from core.table.row_source import Column, check_told_apart, same_ids

EXACT = 2.0**53
"""Whole numbers from here on are not all floats."""

ReadCells = Callable[[Sequence[int]], Iterable[Sequence[object]]]
"""The cells of the columns at these places, row by row."""


@dataclass(frozen=True, eq=False)
class PackedColumn:
    """Where each row stands in a list of values; null is -1."""

    positions: NDArray[np.intp]
    values: list[object]


@dataclass(frozen=True, eq=False)
class PackedPiece:
    """All rows at once, which are in memory anyway; implements `row_source.RowPiece`."""

    columns: Mapping[str, PackedColumn]

    @property
    def count(self) -> int:
        return max((len(column.positions) for column in self.columns.values()), default=0)

    def encode(self, attribute: Attribute) -> tuple[NDArray[Any], int]:
        column = self.columns[attribute.name]
        codes, changed = attribute.encode([*column.values, None])  # null has position -1, the last entry
        return codes[column.positions], int(np.count_nonzero(changed[column.positions]))

    def texts(self, name: str) -> tuple[NDArray[np.intp], list[str]]:
        column = self.columns[name]
        return column.positions, [text_of(value) for value in column.values]

    def values(self, name: str, rows: slice) -> tuple[NDArray[np.intp], Sequence[object]]:
        return self.columns[name].positions[rows], self.columns[name].values


class PackedCells:
    """A source that hands out its cells row by row; implements `row_source.Rows`.

    **Privacy** A cell is kept under its value and type, so 1, 1.0, True and '1' of different rows stay what they are.
    """

    def __init__(self, columns: Iterable[Column], read: ReadCells, digest: Callable[[], str]) -> None:
        self.columns = tuple(columns)
        self._read = read
        self._digest = digest
        self._places = {column.name: place for place, column in enumerate(self.columns)}
        self._taken: dict[str, PackedColumn] = {}

    def take(self, names: Sequence[str]) -> int:
        wanted = list(dict.fromkeys(names))
        packers = [_Packer() for _ in wanted]
        count = 0
        for cells in self._read([self._places[name] for name in wanted]):
            count += 1
            for packer, cell in zip(packers, cells, strict=True):
                packer.add(cell)
        self._taken = {name: packer.column() for name, packer in zip(wanted, packers, strict=True)}
        return count

    def pieces(self, asked: Sequence[Attribute | str]) -> Iterator[PackedPiece]:
        yield PackedPiece(self._taken)

    def owners(self, name: str) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        column = self._taken[name]
        check_told_apart(name, any(isinstance(value, float) and abs(value) >= EXACT for value in column.values))
        ids = same_ids([value if isinstance(value, str) else text_of(value) for value in column.values])
        yield np.arange(len(column.positions)), ids[column.positions]

    def fingerprint(self) -> str:
        return self._digest()


class _Packer:
    """A column that grows."""

    def __init__(self) -> None:
        self._positions = array("i")
        self._places: dict[tuple[type, object], int] = {}

    def add(self, cell: object) -> None:
        if cell is None or cell != cell:
            self._positions.append(-1)
        else:
            self._positions.append(self._places.setdefault((type(cell), cell), len(self._places)))

    def column(self) -> PackedColumn:
        positions = np.frombuffer(self._positions, dtype=np.intc).astype(np.intp)
        return PackedColumn(positions, [value for _, value in self._places])


def chosen(rows: Iterable[Sequence[object]], places: Sequence[int]) -> Iterator[list[object]]:
    """Some cells of every row."""
    for row in rows:
        yield [row[place] for place in places]
