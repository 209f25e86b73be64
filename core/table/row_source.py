"""What an opened source is, whatever it is made of, and how its contents are fingerprinted."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from core.base.errors import BadFile, printable
from core.schema.attributes import Attribute
from core.schema.spellings import spelled

NESTED = "Column '{}' holds lists or records; use plain columns."
CHANGED = "The file changed while it was read; wait until it is written, then read it again."


class Column(NamedTuple):
    """Name and storage type of a column: what may be shown before a schema exists."""

    name: str
    type: str


class RowPiece(Protocol):
    """Some rows of a source that follow each other, with the columns that were asked for."""

    @property
    def count(self) -> int: ...

    def encode(self, attribute: Attribute) -> tuple[NDArray[Any], int]:
        """Codes of a column that was asked for by its attribute, and how many misfits."""

    def texts(self, name: str) -> tuple[NDArray[np.intp], list[str]]:
        """Where each row of a column that was asked for by its name stands in a list of texts; -1 where it is null."""

    def values(self, name: str, rows: slice) -> tuple[NDArray[np.intp], Sequence[object]]:
        """Where each of these rows stands in a list of values that it may be compared by; -1 where it is null."""


class Rows(Protocol):
    """An opened source, read in pieces: memory follows their size, not that of the source.

    **Privacy**: what is read from a row depends on that row alone. A storage type that a single row can change (a
    column of whole numbers becomes one of floats beside an empty cell, decimals get another place, days a time) changes
    how a row is fetched, never what it says; nor does the piece that it is in.
    """

    columns: tuple[Column, ...]

    def take(self, names: Sequence[str]) -> int:
        """Choose these columns; gives the number of rows."""

    def pieces(self, asked: Sequence[Attribute | str]) -> Iterator[RowPiece]:
        """All rows, in order, with some of the columns that are taken: to be encoded, or by name to be read as text."""

    def owners(self, name: str) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Groups of rows, none of whose ids is in another group: the numbers of the rows, and for each a number that is
        the same for equal ids; -1 where there is none."""

    def fingerprint(self) -> str: ...


def counted(result: tuple[NDArray[Any], NDArray[np.bool_]]) -> tuple[NDArray[Any], int]:
    """Codes and the number of misfits."""
    return result[0], int(np.count_nonzero(result[1]))


def same_ids(texts: Sequence[str]) -> NDArray[np.intp]:
    """A number for each of these ids, and, last, one for null: equal for equal texts; -1 for none."""
    merged = {text: place for place, text in enumerate(dict.fromkeys(texts))} | {"": -1}
    return np.array([*(merged[text] for text in texts), -1], dtype=np.intp)


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
