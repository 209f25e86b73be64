"""How DuckDB hands over a column, by its storage type and by what is asked of it, and what comes of it.

A reading names the expressions that a piece of rows is fetched with; what arrives is Arrow arrays, one for each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from core.schema.attributes import Attribute
from core.schema.domain import Dates
from core.schema.spellings import BLANKS, moment
from core.table.row_source import counted

Positions = NDArray[np.intp]

WHOLE = re.compile(r"U?(TINY|SMALL|BIG)?INT(EGER)?$")
FLOAT = re.compile(r"DOUBLE|FLOAT")
DIGITS = re.compile(r"DECIMAL|U?HUGEINT|BIGNUM")
TIME = re.compile(r"DATE|TIMESTAMP")
BOOLEAN = re.compile("BOOLEAN")
_READ: tuple[tuple[re.Pattern[str], Callable[[Any], object]], ...] = (
    (WHOLE, int),
    (FLOAT, float),
    (DIGITS, Decimal),
    (TIME, moment),
    (BOOLEAN, "true".__eq__),
)
"""What a printed value of a type means: the same as a DataFrame would hold, whichever type its writer chose."""


class Reading(Protocol):
    """One column in one use."""

    @property
    def expressions(self) -> tuple[str, ...]: ...

    def values(self, arrays: Sequence[pa.Array]) -> tuple[Positions, Sequence[object]]:
        """Where each row stands in a list of values; null is -1."""


@runtime_checkable
class Readable(Reading, Protocol):
    """One that is encoded without looking for distinct values."""

    def encode(self, attribute: Attribute, arrays: Sequence[pa.Array]) -> tuple[NDArray[Any], int]: ...


def reading(asked: Attribute | str, column: str, storage: str, number: Callable[[str], str]) -> Reading:
    """How to fetch a column; `number` is the expression by which a text is read as a number, null where it is none."""
    if isinstance(asked, Attribute):
        if isinstance(asked, Dates) and TIME.match(storage):
            return Days(column, printed(column, storage))
        if asked.numeric and storage == "VARCHAR":
            return NumbersInText(column, number(column))
        if asked.numeric and WHOLE.match(storage):
            return Numbers(column)
        if FLOAT.match(storage) or (asked.numeric and storage == "BOOLEAN"):
            return Numbers(f"CAST({column} AS DOUBLE)")
        if asked.numeric and DIGITS.match(storage):
            # by way of text, which is rounded once: a direct cast may round differently with another scale
            return Numbers(f"TRY_CAST(CAST({column} AS VARCHAR) AS DOUBLE)")
    read = next((read for types, read in _READ if types.match(storage)), None)
    return Printed(printed(column, storage), read)


def printed(column: str, storage: str) -> str:
    """A column as text; bytes stay bytes, which would be escaped: one odd byte makes a column of texts a BLOB."""
    if storage == "BLOB":
        return column
    # a float prints as the double of the same value, whatever its width
    return f"CAST(CAST({column} AS DOUBLE) AS VARCHAR)" if FLOAT.match(storage) else f"CAST({column} AS VARCHAR)"


@dataclass(frozen=True)
class Numbers:
    """Numbers as they are."""

    expression: str

    @property
    def expressions(self) -> tuple[str, ...]:
        return (self.expression,)

    def encode(self, attribute: Attribute, arrays: Sequence[pa.Array]) -> tuple[NDArray[Any], int]:
        return counted(attribute.encode(numbers(arrays[0])))

    def values(self, arrays: Sequence[pa.Array]) -> tuple[Positions, Sequence[object]]:
        return _floats(arrays[0])


@dataclass(frozen=True)
class NumbersInText:
    """Texts that should be numbers. Those that are none are fetched as they are, to be counted and compared."""

    column: str
    number: str

    @property
    def expressions(self) -> tuple[str, ...]:
        return self.number, f"CASE WHEN {self.number} IS NULL THEN {self.column} END"

    def encode(self, attribute: Attribute, arrays: Sequence[pa.Array]) -> tuple[NDArray[Any], int]:
        codes, misfits = counted(attribute.encode(numbers(arrays[0])))
        # without a 'missing' cell every null is a misfit already
        return codes, misfits + (self._unread(arrays[1]) if attribute.missing else 0)

    def values(self, arrays: Sequence[pa.Array]) -> tuple[Positions, Sequence[object]]:
        positions, found = _floats(arrays[0])
        odd, texts = packed(arrays[1])
        return np.where(odd >= 0, odd + len(found), positions), [*found, *texts.to_pylist()]

    def _unread(self, texts: pa.Array) -> int:
        """How many texts are neither blank nor a number."""
        positions, found = packed(texts)
        words = np.array([bool(text.strip(BLANKS)) for text in found.to_pylist()] + [False])
        return int(np.count_nonzero(words[positions]))


@dataclass(frozen=True)
class Days:
    """Days and moments as seconds since 1970, beside what they are compared by."""

    column: str
    printed: str

    @property
    def expressions(self) -> tuple[str, ...]:
        endless = f"IF(CAST({self.column} AS VARCHAR) LIKE '-%', -1e12, 1e12)"
        return f"CASE WHEN isinf({self.column}) THEN {endless} ELSE epoch({self.column}) END", self.printed

    def encode(self, attribute: Attribute, arrays: Sequence[pa.Array]) -> tuple[NDArray[Any], int]:
        seconds = numbers(arrays[0])
        known = ~np.isnan(seconds)
        days = np.full(len(seconds), np.datetime64("NaT"), dtype="datetime64[D]")
        days[known] = np.floor(seconds[known] / 86400).astype(np.int64).astype("datetime64[D]")
        return counted(attribute.encode(days))

    def values(self, arrays: Sequence[pa.Array]) -> tuple[Positions, Sequence[object]]:
        positions, found = packed(arrays[1])
        return positions, [moment(text) for text in found.to_pylist()]


@dataclass(frozen=True)
class Printed:
    """Each distinct value once, as a DataFrame would hold it."""

    expression: str
    read: Callable[[Any], object] | None

    @property
    def expressions(self) -> tuple[str, ...]:
        return (self.expression,)

    def values(self, arrays: Sequence[pa.Array]) -> tuple[Positions, Sequence[object]]:
        positions, found = packed(arrays[0])
        return positions, found.to_pylist() if self.read is None else [self.read(text) for text in found.to_pylist()]


def numbers(array: pa.Array) -> NDArray[Any]:
    """Numbers, with NaN for null."""
    if not array.null_count:
        return np.asarray(array.to_numpy(zero_copy_only=False))
    return np.asarray(pc.cast(array, pa.float64(), safe=False).to_numpy(zero_copy_only=False))


def packed(array: pa.Array | pa.ChunkedArray) -> tuple[Positions, pa.Array]:
    """Where each row stands in an array of distinct values (in order of appearance); null is -1."""
    found = array.dictionary_encode()
    if isinstance(found, pa.ChunkedArray):
        found = found.combine_chunks()
    return found.indices.fill_null(-1).to_numpy().astype(np.intp), found.dictionary


def _floats(array: pa.Array) -> tuple[Positions, Sequence[object]]:
    positions, found = pd.factorize(numbers(array).astype(np.float64) + 0.0)  # -0 is 0
    return positions, found.tolist()
