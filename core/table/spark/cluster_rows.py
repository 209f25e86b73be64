"""The raw rows of a table on Spark, as the desk sees them: columns and their types, numbers of rows, a checksum.

**Fingerprint** SHA-256 over the names of all plain columns, the number of rows, and the sum over all rows of a 64-bit
hash of the row (`xxhash64` of every column's place and value). So it is that of the contents: files that are copied,
divided otherwise, touched or written again keep it, and so does a table whose rows come in another order; a row that is
changed, added or removed changes it. It costs one pass over the rows, on the executors.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import unquote

from core.base.errors import BadFile, BadSchema, printable
from core.table import files
from core.table.row_source import NESTED, Column
from core.table.sentences import NO_ROWS
from core.table.spark.spark_session import session
from core.table.spark.spark_source import SparkSource

_FILE, _PLACE = "xxhash64(_metadata.file_path)", "_metadata.row_index"
_PIECES = ("hash & 16777215", "shiftrightunsigned(hash, 24) & 16777215", "shiftrightunsigned(hash, 48)")
"""A hash in three parts, whose sums stay in 64 bits for 2^39 rows."""
_CALLED = {"STRING": "VARCHAR", "INT": "INTEGER", "TIMESTAMP_NTZ": "TIMESTAMP", "BINARY": "BLOB"}
"""What the same types are called in files."""
_NESTED = ("struct", "array", "map", "variant")


@dataclass(frozen=True)
class Contents:
    """What one pass over the rows tells about them."""

    rows: int = field(repr=False)
    fingerprint: str = field(repr=False)


class ClusterRows:
    """The rows of a source, not fetched by anybody."""

    def __init__(self, source: SparkSource) -> None:
        reader = session(source.address).read
        if source.table is not None:
            self._frame = reader.table(source.table)
        else:
            self._frame = _read(reader, source.path or "")
        self._types = {each.name: each.dataType.simpleString() for each in self._frame.schema.fields}
        files.check_names([each.name for each in self._frame.schema.fields])

    @property
    def columns(self) -> tuple[Column, ...]:
        told = ((name, kind.partition("<")[0].upper()) for name, kind in self._types.items())
        return tuple(Column(name, _CALLED.get(kind, kind)) for name, kind in told)

    def check(self, names: Sequence[str], owner: str | None) -> None:
        """Refuse columns that are not there, or that hold more than one value in a row."""
        for name in names:
            if name not in self._types:
                raise BadSchema(f"The table has no column '{printable(name)}'; correct or remove it in the schema.")
        if owner is not None and owner not in self._types:
            raise BadSchema(f"The table has no id column '{printable(owner)}'; choose one that exists.")
        for name in [*names, *([] if owner is None else [owner])]:
            if self._types[name].startswith(_NESTED):
                raise BadSchema(NESTED.format(printable(name)))
        if owner is not None and not self._placed:
            raise BadFile("A limit per id needs Parquet files, whose rows have places; this table has none.")

    def fetched(self, names: Sequence[str], placed: bool) -> Any:
        """These columns, as c0, c1, ...; and, if asked for, each row's file and place in it."""
        wanted = [f"{quoted(name)} AS c{place}" for place, name in enumerate(names)]
        return self._frame.selectExpr(*wanted, *([f"{_FILE} AS file", f"{_PLACE} AS place"] if placed else []))

    def contents(self) -> Contents:
        """Count and fingerprint all rows."""
        names = sorted(name for name, kind in self._types.items() if not kind.startswith(_NESTED))
        cells = ", ".join(f"{place}, {quoted(name)}" for place, name in enumerate(names))
        hashed = self._frame.selectExpr(f"xxhash64({cells}) AS hash")
        [line] = hashed.selectExpr("count(*)", *(f"sum({piece})" for piece in _PIECES)).collect()
        rows, *parts = line
        if rows == 0:
            raise BadFile(NO_ROWS)
        total = sum(part << 24 * place for place, part in enumerate(parts)) % 2**64
        told = json.dumps({"spark": 1, "names": names, "rows": rows, "sum": f"{total:016x}"}, sort_keys=True)
        return Contents(rows, hashlib.sha256(told.encode()).hexdigest())

    def starts(self) -> dict[int, int]:
        """The place in the table of the first row of each file, by the file's number.

        Files come in the order in which a local folder is read: by the parts of their paths.
        """
        paths = self._frame.selectExpr("_metadata.file_path AS path").groupBy("path").count()
        lines = paths.selectExpr("path", "xxhash64(path)", "count").collect()
        starts, before = {}, 0
        for _, file, rows in sorted(lines, key=lambda line: unquote(line[0]).split("/")):
            starts[file] = before
            before += rows
        return starts

    @cached_property
    def _placed(self) -> bool:
        """Whether rows know their file and their place in it: those of Parquet files do."""
        from pyspark.errors import AnalysisException

        try:
            return bool(self._frame.selectExpr(f"{_FILE} AS file", f"{_PLACE} AS place").schema)
        except AnalysisException:
            return False


def _read(reader: Any, path: str) -> Any:
    """Rows by a path; of a Delta table those that are in it now, not whatever its files still hold."""
    if _is_delta(reader, path):
        return reader.format("delta").load(path)
    # as in a local folder: those in folders too, whose names say nothing
    return reader.option("recursiveFileLookup", "true").parquet(path)


def _is_delta(reader: Any, path: str) -> bool:
    """Whether a folder keeps the log of a Delta table; looked at by Spark, which alone knows the cluster's folders."""
    from pyspark.errors import AnalysisException

    try:
        return bool(reader.format("text").load(f"{path.rstrip('/')}/_delta_log").schema)
    except AnalysisException:
        return False


def quoted(name: str) -> str:
    """A column by its name, whatever is in it."""
    return f"`{name.replace('`', '``')}`"
