"""Columns of a private table before any schema: distinct texts and how often each occurs. Private."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import IntArray
from core.privacy.unit import Unit
from core.table.same_rows import RowSketch


@dataclass(frozen=True, eq=False)
class RawColumn:
    """The distinct texts of a column and how many rows have each."""

    texts: list[str] = field(repr=False)
    counts: IntArray = field(repr=False)
    nulls: int = field(repr=False)

    @cached_property
    def encoded(self) -> dict[bytes, int]:
        """Rows per text without surrounding blanks, in UTF-8; null is the empty text.

        Counts are added up, because texts that cannot be encoded share their bytes with others.
        """
        rows = {b"": self.nulls}
        for text, count in zip(self.texts, self.counts, strict=True):
            key = text.strip().encode("utf-8", "replace")
            rows[key] = rows.get(key, 0) + int(count)
        return rows


class TextTally:
    """A column that is counted piece by piece."""

    def __init__(self) -> None:
        self._rows: dict[str, int] = {}
        self._nulls = 0

    def add(self, positions: NDArray[Any], texts: list[str]) -> None:
        """From the place of every row's text in a list; a negative place is null."""
        often = np.bincount(positions[positions >= 0], minlength=len(texts)).tolist()
        for text, count in zip(texts, often, strict=True):
            self._rows[text] = self._rows.get(text, 0) + count
        self._nulls += int(np.count_nonzero(positions < 0))

    def column(self) -> RawColumn:
        return RawColumn(list(self._rows), np.array(list(self._rows.values()), dtype=np.int64), self._nulls)


@dataclass(frozen=True, eq=False)
class RawColumns:
    """Some columns of one table, with at most `unit.limit` rows of each unit."""

    columns: Mapping[str, RawColumn] = field(repr=False)
    unit: Unit
    sketch: RowSketch | None = field(default=None, repr=False)
    """Of the rows, to find tables of the same ones."""
