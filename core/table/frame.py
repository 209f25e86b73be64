"""A DataFrame as a source: pandas already holds the values, so they are encoded where they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from core.base.errors import BadFile, BadSchema, printable
from core.schema.attributes import Attribute
from core.schema.spellings import distinct, text_of
from core.table import files
from core.table.row_source import NESTED, Column, check_told_apart, content, counted, same_ids

# Signed or not, whole numbers are one kind: pandas turns them into floats as soon as a single cell is empty.
_TYPES = {"i": "BIGINT", "u": "BIGINT", "f": "DOUBLE", "b": "BOOLEAN", "M": "TIMESTAMP"}


PIECE = 1 << 17
"""Rows encoded at a time: what is made on the way takes some twenty bytes for each."""


class Frame:
    """The rows of a DataFrame; implements `row_source.Rows`, and its pieces `row_source.RowPiece`.

    Mixed Python values in a column are each read by themselves.
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        if not all(isinstance(name, str) for name in frame.columns):
            raise BadFile("Every column of the DataFrame needs a text as its name; rename the others.")
        self._frame = frame
        names = files.check_names(list(frame.columns))
        self.columns = tuple(
            Column(name, _TYPES.get(_kind(dtype), "VARCHAR")) for name, dtype in zip(names, frame.dtypes, strict=True)
        )

    def take(self, names: Sequence[str]) -> int:
        for name in names:
            dtype = self._frame[name].dtype
            # Arrow gives every row the fields that a single one has; a list in a column of Python values is its own.
            if isinstance(dtype, pd.ArrowDtype) and pa.types.is_nested(dtype.pyarrow_dtype):
                raise BadSchema(NESTED.format(printable(name)))
        return len(self._frame)

    def pieces(self, asked: Sequence[Attribute | str]) -> Iterator[Frame]:
        for start in range(0, len(self._frame), PIECE):
            yield Frame(self._frame.iloc[start : start + PIECE])

    @property
    def count(self) -> int:
        return len(self._frame)

    def encode(self, attribute: Attribute) -> tuple[NDArray[Any], int]:
        return counted(attribute.encode(self._frame[attribute.name]))

    def owners(self, name: str) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        column = self._frame[name]
        if _kind(column.dtype) == "f":
            digits = {2: 11, 4: 24}.get(getattr(column.dtype, "itemsize", 8), 53)
            numbers = np.abs(column.to_numpy(dtype=np.float64, na_value=np.nan))
            check_told_apart(name, bool((np.isfinite(numbers) & (numbers >= 2.0**digits)).any()))
        positions, found = distinct(column)
        yield np.arange(len(positions)), same_ids([_id_text(value) for value in found])[positions]

    def texts(self, name: str) -> tuple[NDArray[np.intp], list[str]]:
        positions, found = distinct(self._frame[name])
        return positions, [text_of(value) for value in found]

    def values(self, name: str, rows: slice) -> tuple[NDArray[np.intp], Sequence[object]]:
        return distinct(self._frame[name].iloc[rows])

    def fingerprint(self) -> str:
        return content((column.name, *distinct(self._frame[column.name])) for column in self.columns)


def _id_text(value: object) -> str:
    """An id as exact text; Arrow keeps all texts of a column as bytes where one of them is, and they stay the same."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    return value if isinstance(value, str) else text_of(value)


def _kind(dtype: object) -> str:
    return str(getattr(dtype, "kind", "O"))
