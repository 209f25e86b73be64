"""What an opened source is, whatever it is made of, and how its contents are fingerprinted."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from core.base.errors import BadFile, printable
from core.schema.attributes import Attribute
from core.schema.spellings import spelled

NESTED = "Column '{}' holds lists or records; use plain columns."


class Column(NamedTuple):
    """Name and storage type of a column: what may be shown before a schema exists."""

    name: str
    type: str


class Rows(Protocol):
    """An opened source.

    **Privacy**: what is read from a row depends on that row alone. A storage type that a single row can change (a
    column of whole numbers becomes one of floats beside an empty cell, decimals get another place, days a time) changes
    how a row is fetched, never what it says.
    """

    columns: tuple[Column, ...]

    def take(self, names: Sequence[str]) -> int:
        """Read these columns; gives the number of rows."""

    def encode(self, attribute: Attribute) -> tuple[NDArray[Any], int]:
        """Codes of a taken column, and how many misfits."""

    def owners(self, name: str) -> NDArray[np.intp]:
        """A number per row that is the same for equal ids; -1 where there is none."""

    def texts(self, name: str) -> tuple[NDArray[np.intp], list[str]]:
        """Where each row of a taken column stands in a list of texts; -1 where it is null."""

    def every(self, name: str, step: int) -> tuple[NDArray[np.intp], Sequence[object]]:
        """Of every so many-th row of a taken column, the same rows for each: where it stands in a list of values; -1
        where it is null."""

    def tally(self, name: str) -> tuple[NDArray[np.int64], Sequence[object]]:
        """How many rows of a taken column hold each of a list of values, and, last, how many are null."""

    def fingerprint(self) -> str: ...


def counted(result: tuple[NDArray[Any], NDArray[np.bool_]]) -> tuple[NDArray[Any], int]:
    """Codes and the number of misfits."""
    return result[0], int(np.count_nonzero(result[1]))


def check_told_apart(name: str, inexact: bool) -> None:
    """Refuse ids that floats cannot hold: two people would be taken for one."""
    if inexact:
        raise BadFile(
            f"The id column '{printable(name)}' holds numbers too large for floats, which would take different ids "
            "for one; give it as texts or whole numbers."
        )


def content(columns: Iterable[tuple[str, NDArray[np.intp], Sequence[object]]]) -> str:
    """SHA-256 over names and values; distinct values in order of appearance, so equal contents give equal bytes."""
    seen = hashlib.sha256()
    for name, positions, values in columns:
        for text in (name, *(value if isinstance(value, str) else spelled(value) for value in values)):
            raw = text.encode("utf-8", "surrogatepass")
            seen.update(len(raw).to_bytes(8, "little") + raw)
        seen.update(positions.astype("<i8").tobytes())
        seen.update(len(positions).to_bytes(8, "little"))
    return seen.hexdigest()
