"""A table of a database as rows: sent as lines of text in pieces, each of which becomes Arrow arrays in memory.

Nothing is written to disk, neither here nor there. Types are those that the table declares; days, moments and decimals
come as texts, because servers have some that nothing else can hold (infinity, the year 0, years before Christ).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import NamedTuple, Protocol

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as arrow_csv
from numpy.typing import NDArray

from core.base.errors import BadFile, BadSchema, printable
from core.schema.attributes import Attribute
from core.table import files
from core.table.formats.arrow_rows import arrow_rows
from core.table.formats.databases.database_source import POSTGRES, DatabaseSource
from core.table.formats.databases.database_words import GONE
from core.table.formats.duckdb_rows import GROUP, PIECE, DuckPiece, numbered_owners
from core.table.row_source import NESTED, Column

PIECE_BYTES = 32 << 20
"""Of text in a piece; the arrays made of it take some three times as much while they are encoded."""
NESTED_TYPES = ("LIST", "STRUCT")


class HeldColumn(NamedTuple):
    """A column of a server's table: its name, what its type is called here, and how its cells are held."""

    name: str
    type: str
    held: pa.DataType


class DatabaseTable(Protocol):
    """One table in one state of its database, which a server keeps until the look at it ends.

    Whatever implements this gives the same rows in the same order each time, and writes nothing.
    """

    @property
    def columns(self) -> Sequence[HeldColumn]:
        """As the table declares them."""

    def count(self) -> int:
        """How many rows there are; from now on reading may take long."""

    def lines(self, names: Sequence[str]) -> Iterator[bytes]:
        """Every row as a line of CSV with these columns: null is an empty field, the empty text a quoted one."""


@contextmanager
def opened(source: DatabaseSource) -> Iterator[DatabaseRows]:
    with _table(source) as table:
        yield DatabaseRows(table)


def _table(source: DatabaseSource) -> AbstractContextManager[DatabaseTable]:
    """Each server's own way is loaded where it is needed."""
    if source.server == POSTGRES:
        from core.table.formats.databases import postgres_table

        return postgres_table.opened(source)
    from core.table.formats.databases import mysql_table

    return mysql_table.opened(source)


class DatabaseRows:
    """The rows of such a table; implements `row_source.Rows`."""

    def __init__(self, table: DatabaseTable) -> None:
        self._table = table
        files.check_names([column.name for column in table.columns])
        self.columns = tuple(Column(column.name, column.type) for column in table.columns)
        self._held = {column.name: column.held for column in table.columns}
        self._count = 0

    def take(self, names: Sequence[str]) -> int:
        types = dict(self.columns)
        for name in names:
            if types[name] in NESTED_TYPES:
                raise BadSchema(NESTED.format(printable(name)))
        self._count = self._table.count()
        return self._count

    def pieces(self, asked: Sequence[Attribute | str]) -> Iterator[DuckPiece]:
        names = list(dict.fromkeys(each if isinstance(each, str) else each.name for each in asked))
        for piece in self._arrays(names):
            with arrow_rows(piece) as rows:
                rows.take(names)
                yield from rows.pieces(asked)

    def owners(self, name: str) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        groups = -(-self._count // GROUP)
        for group in range(groups):
            yield numbered_owners(list(self._ids(name, group, groups)))

    def _ids(self, name: str, group: int, groups: int) -> Iterator[list[pa.Array]]:
        """Numbers of rows and their ids; equal ids are in one group."""
        read = 0
        for piece in self._arrays([name]):
            with arrow_rows(piece) as rows:
                rows.take([name])
                ids = rows.ids(name)
            numbers = pa.array(np.arange(read, read + len(ids)))
            read += len(ids)
            kept = _group(ids, groups) == group
            yield [numbers.filter(pa.array(kept)), ids.filter(pa.array(kept))]

    def fingerprint(self) -> str:
        """SHA-256 over names and cells, row by row: the same table keeps its budget wherever it is moved to."""
        seen = hashlib.sha256()
        for column in self.columns:
            raw = column.name.encode()
            seen.update(len(raw).to_bytes(8, "little") + raw)
        for line in self._table.lines([column.name for column in self.columns]):
            seen.update(line)
        return seen.hexdigest()

    def _arrays(self, names: Sequence[str]) -> Iterator[pa.Table]:
        held: list[bytes] = []
        size = 0
        for line in self._table.lines(names):
            held.append(line)
            size += len(line)
            if len(held) == PIECE or size >= PIECE_BYTES:
                yield self._read(names, held)
                held, size = [], 0
        if held:
            yield self._read(names, held)

    def _read(self, names: Sequence[str], lines: list[bytes]) -> pa.Table:
        raw = b"".join(lines)
        inside = [f"c{place}" for place in range(len(names))]
        table = arrow_csv.read_csv(
            pa.BufferReader(raw),
            arrow_csv.ReadOptions(use_threads=False, column_names=inside, block_size=len(raw) + 1),
            # The row of a single column that is null is an empty line.
            arrow_csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
            arrow_csv.ConvertOptions(
                column_types={key: self._held[name] for key, name in zip(inside, names, strict=True)},
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
                true_values=["t"],
                false_values=["f"],
            ),
        )
        if table.num_rows != len(lines):
            raise BadFile(GONE)
        return table.rename_columns(list(names))


def _group(ids: pa.Array, groups: int) -> NDArray[np.intp]:
    """The same number for equal ids."""
    if groups == 1:
        return np.zeros(len(ids), dtype=np.intp)
    plain = ids.fill_null(0 if pa.types.is_integer(ids.type) else "").to_numpy(zero_copy_only=False)
    return (pd.util.hash_array(plain, categorize=False) % np.uint64(groups)).astype(np.intp)
