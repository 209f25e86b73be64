"""Rows that somebody else fetched, as Arrow arrays: they go through DuckDB like those of a file, to be read as one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import duckdb
import pyarrow as pa

from core.table.formats import engine
from core.table.formats.column_encoding import WHOLE
from core.table.formats.duckdb_rows import DuckRows
from core.table.row_source import Column


class ArrowRows(DuckRows):
    """Rows of an Arrow table. They are in memory already, so there is no limit to what they take."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, table: pa.Table) -> None:
        inside = table.rename_columns([f"c{place}" for place in range(table.num_columns)])
        connection.register("given", inside)
        types = [kind for _, kind, *_ in connection.execute("DESCRIBE SELECT * FROM given").fetchall()]
        columns = [Column(name, kind) for name, kind in zip(table.column_names, types, strict=True)]
        super().__init__(connection, columns, "given", True, math.inf)

    def ids(self, name: str) -> pa.Array:
        """The ids of all rows, as whole numbers or as exact texts; null where there is none."""
        value = self._owner(name)
        fetched = [arrays[0] for arrays in self._fetched([value], "taken")]
        found = pa.chunked_array(fetched).combine_chunks() if fetched else pa.array([], pa.string())
        if WHOLE.match(self.columns[self._places[name]].type):
            return found.cast(pa.int64())
        return pa.compute.if_else(pa.compute.equal(found, ""), pa.scalar(None, found.type), found).cast(pa.string())


@contextmanager
def arrow_rows(table: pa.Table) -> Iterator[ArrowRows]:
    """These rows, opened; one thread, because others have the rest of the machine."""
    with engine.engine_for([]) as connection:
        connection.execute("SET threads=1")
        yield ArrowRows(connection, table)
