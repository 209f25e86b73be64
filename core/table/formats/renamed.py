"""A source whose columns without a name of their own were named by the curator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.base.errors import BadParameter, printable
from core.schema.attributes import Attribute
from core.table.row_source import Column, RowPiece, Rows

if TYPE_CHECKING:
    from core.table.source import TableSource


@dataclass(frozen=True, eq=False)
class Renamed:
    """A source, and other names for some of its columns."""

    source: TableSource
    names: tuple[tuple[str, str], ...]
    """Pairs: the name in the source, and the one that the schema uses."""

    def __post_init__(self) -> None:
        if isinstance(self.source, Renamed):
            raise BadParameter("source", "has other names for its columns already.")
        own, given = [pair[0] for pair in self.names], [pair[1] for pair in self.names]
        if len(set(own)) < len(own) or len(set(given)) < len(given) or not all(name.strip() for name in given):
            raise BadParameter("names", "must name different columns, each by a name that no other has.")


class RenamedRows:
    """Rows under other names; everything about them but the names is that of the rows below.

    **Privacy** A name says nothing about a row, and the fingerprint is that of the source. `own` leads back to the
    names of the source, by which tables of the same rows are recognised: else a new name would open a new account.
    """

    def __init__(self, rows: Rows, names: tuple[tuple[str, str], ...]) -> None:
        given = dict(names)
        self.rows = rows
        self.columns = tuple(Column(given.get(column.name, column.name), column.type) for column in rows.columns)
        self._own = {shown.name: column.name for shown, column in zip(self.columns, rows.columns, strict=True)}
        if len(self._own) < len(self.columns):
            taken = [column.name for column in self.columns]
            twice = next(name for name in taken if taken.count(name) > 1)
            raise BadParameter("names", f"would give two columns the name '{printable(twice)}'; choose another.")

    def own(self, names: Sequence[str]) -> list[str]:
        """What the source calls them."""
        return [self._own.get(name, name) for name in names]

    def take(self, names: Sequence[str]) -> int:
        return self.rows.take(self.own(names))

    def pieces(self, asked: Sequence[Attribute | str]) -> Iterator[RenamedPiece]:
        own = [self._own[each] if isinstance(each, str) else _named(each, self._own[each.name]) for each in asked]
        return (RenamedPiece(piece, self._own) for piece in self.rows.pieces(own))

    def owners(self, name: str) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        return self.rows.owners(*self.own([name]))

    def fingerprint(self) -> str:
        return self.rows.fingerprint()


@dataclass(frozen=True, eq=False)
class RenamedPiece:
    """Some rows under other names; implements `row_source.RowPiece`."""

    piece: RowPiece
    own: Mapping[str, str]

    @property
    def count(self) -> int:
        return self.piece.count

    def encode(self, attribute: Attribute) -> tuple[NDArray[Any], int]:
        return self.piece.encode(_named(attribute, self.own[attribute.name]))

    def texts(self, name: str) -> tuple[NDArray[np.intp], list[str]]:
        return self.piece.texts(self.own[name])

    def values(self, name: str, rows: slice) -> tuple[NDArray[np.intp], Sequence[object]]:
        return self.piece.values(self.own[name], rows)


def _named(attribute: Attribute, name: str) -> Attribute:
    return attribute.model_copy(update={"name": name})
