"""Questions about columns that have no schema yet: how many values lie between public bounds, how texts go on."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.base.arrays import IntArray
from core.base.errors import BadParameter
from core.kernel.asked import Asked, Change
from core.kernel.tables import one_cell
from core.privacy.unit import Unit
from core.schema.spellings import days, number
from core.table.raw_columns import RawColumns

END = 256
"""The mark after the last byte of a text."""


@dataclass(frozen=True)
class Buckets(Asked):
    """Rows of a column by public edges: below the first, between two, from the last on; unreadable ones come last.

    **Change** `one_cell`: a row's value lies in one bucket.
    """

    column: str
    edges: tuple[float, ...]
    dates: bool

    def counts(self, counts: RawColumns) -> IntArray:
        values, read = counts.columns[self.column], days if self.dates else number
        table = np.zeros(len(self.edges) + 2, dtype=np.int64)
        table[-1] = values.nulls
        for text, often in zip(values.texts, values.counts, strict=True):
            value = read(text)
            table[-1 if value is None or math.isnan(value) else bisect_right(self.edges, value)] += often
        return table

    def change(self, unit: Unit) -> Change:
        return one_cell(unit)


@dataclass(frozen=True, eq=False)
class NextBytes(Asked):
    """For each of some public beginnings, all of the same length: rows of a text column by the byte that comes next.

    Texts are taken without surrounding blanks, in UTF-8; null is the empty text. The last cell of a line is the end.

    **Change** `one_cell`: a text begins with at most one of different beginnings of one length, and goes on one way.
    """

    column: str
    beginnings: Sequence[bytes]
    """May be empty: then one line of zeros is asked, so that what happens is what was paid for."""

    def __post_init__(self) -> None:
        if len(set(self.beginnings)) != len(self.beginnings) or len({len(each) for each in self.beginnings}) > 1:
            raise BadParameter("beginnings", "must be different and of one length.")

    def counts(self, counts: RawColumns) -> IntArray:
        places = {beginning: place for place, beginning in enumerate(self.beginnings)}
        table = np.zeros((max(len(places), 1), END + 1), dtype=np.int64)
        length = len(self.beginnings[0]) if self.beginnings else 0
        for text, often in counts.columns[self.column].encoded.items():
            if len(text) >= length and (place := places.get(text[:length])) is not None:
                table[place, text[length] if len(text) > length else END] += often
        return table

    def change(self, unit: Unit) -> Change:
        return one_cell(unit)
