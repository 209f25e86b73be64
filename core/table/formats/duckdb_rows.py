"""Rows behind DuckDB. Its own error texts quote cells, so whoever calls this replaces each by a fixed sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from core.base.errors import BadSchema, printable
from core.schema.attributes import Attribute
from core.schema.domain import Dates
from core.schema.spellings import BLANKS, moment, text_of
from core.table.formats.engine import lock
from core.table.rows import NESTED, Column, check_told_apart, counted


class DuckRows:
    """Rows behind DuckDB. `origin` is a FROM clause that names the columns c0, c1, ... and takes `parameters`.

    Where columns can be read one at a time they are read `in_place`, so that a table may be larger than memory; others
    are copied into memory once.
    """

    def __init__(
        self,
        engine: duckdb.DuckDBPyConnection,
        columns: Iterable[Column],
        origin: str,
        parameters: list[Any],
        in_place: bool,
    ) -> None:
        self.columns = tuple(columns)
        self._engine = engine
        self._origin = origin
        self._parameters = parameters
        self._in_place = in_place
        self._places = {column.name: place for place, column in enumerate(self.columns)}

    def take(self, names: Sequence[str]) -> int:
        for name in names:
            if _NESTED.search(self.columns[self._places[name]].type):
                raise BadSchema(NESTED.format(printable(name)))
        wanted = ", ".join(f"c{place}" for place in sorted({self._places[name] for name in names}))
        kind = "VIEW" if self._in_place else "TABLE"
        self._engine.execute(f"CREATE TEMP {kind} taken AS SELECT {wanted} FROM {self._origin}", self._parameters)
        lock(self._engine)
        return int(self._engine.execute("SELECT count(*) FROM taken").fetchall()[0][0])

    def encode(self, attribute: Attribute) -> tuple[NDArray[Any], int]:
        place = self._places[attribute.name]
        column, storage = f"c{place}", self.columns[place].type
        if isinstance(attribute, Dates) and _TIME.match(storage):
            return counted(attribute.encode(self._days(column)))
        if attribute.numeric and storage == "VARCHAR":
            codes, misfits = counted(attribute.encode(self._numbers(self._number(column))))
            # without a 'missing' cell every null is a misfit already
            return codes, misfits + (self._unread(column) if attribute.missing else 0)
        if attribute.numeric and _WHOLE.match(storage):
            return counted(attribute.encode(self._numbers(column)))
        if _FLOAT.match(storage) or (attribute.numeric and storage == "BOOLEAN"):
            return counted(attribute.encode(self._numbers(f"CAST({column} AS DOUBLE)")))
        if attribute.numeric and _DIGITS.match(storage):
            # by way of text, which is rounded once: a direct cast may round differently with another scale
            return counted(attribute.encode(self._numbers(f"TRY_CAST(CAST({column} AS VARCHAR) AS DOUBLE)")))
        positions, values = self._values(column, storage)
        codes, changed = attribute.encode([*values, None])  # null has position -1, the last entry
        return codes[positions], int(np.count_nonzero(changed[positions]))

    def owners(self, name: str) -> NDArray[np.intp]:
        place = self._places[name]
        column, storage = f"c{place}", self.columns[place].type
        if _FLOAT.match(storage):
            query = f"SELECT count(*) FROM taken WHERE isfinite({column}) AND abs({column}) >= ?"
            found = self._engine.execute(query, [2.0 ** (24 if storage == "FLOAT" else 53)]).fetchall()
            check_told_apart(name, found[0][0] > 0)
            column = f"CASE WHEN NOT isnan({column}) THEN {column} + 0 END"  # -0 is 0, and no number is no id
        positions, texts = self._packed(f"CAST({column} AS VARCHAR)")
        blank = texts.index("").as_py()  # -1, the place of null, where no id is empty
        return np.where(positions == blank, -1, positions)

    def texts(self, name: str) -> tuple[NDArray[np.intp], list[str]]:
        place = self._places[name]
        positions, values = self._values(f"c{place}", self.columns[place].type)
        return positions, [text_of(value) for value in values]

    def every(self, name: str, step: int) -> tuple[NDArray[np.intp], Sequence[object]]:
        place = self._places[name]
        numbered = f"(SELECT c{place}, row_number() OVER () - 1 AS number FROM taken)"
        return self._sorted(place, "taken" if step == 1 else f"{numbered} WHERE number % {step:d} = 0")

    def tally(self, name: str) -> tuple[NDArray[np.int64], Sequence[object]]:
        column = f"c{self._places[name]}"
        query = f"SELECT {column}, count(*) AS often FROM taken GROUP BY {column}"
        self._engine.execute(f"CREATE OR REPLACE TEMP TABLE tallied AS {query}")
        positions, values = self._sorted(self._places[name], "tallied")
        often = self._numbers("often", "tallied")
        return np.bincount(positions % (len(values) + 1), often, len(values) + 1).astype(np.int64), values

    def fingerprint(self) -> str:
        raise NotImplementedError

    def _sorted(self, place: int, table: str) -> tuple[NDArray[np.intp], Sequence[object]]:
        """As `_values`; numbers are not printed and read again."""
        column, storage = f"c{place}", self.columns[place].type
        if not (_WHOLE.match(storage) or _FLOAT.match(storage)):
            return self._values(column, storage, table)
        values, positions = np.unique(self._numbers(f"CAST({column} AS DOUBLE)", table), return_inverse=True)
        return positions, (values + 0.0).tolist()  # -0 is 0; null is NaN, which is read alike

    def _numbers(self, expression: str, table: str = "taken") -> NDArray[Any]:
        values = self._engine.execute(f"SELECT {expression} AS value FROM {table}").fetchnumpy()["value"]
        if not np.ma.isMaskedArray(values):
            return np.asarray(values)
        return np.ma.filled(values.astype(np.float64), np.nan)

    def _days(self, column: str) -> NDArray[np.datetime64]:
        endless = f"IF(CAST({column} AS VARCHAR) LIKE '-%', -1e12, 1e12)"
        seconds = self._numbers(f"CASE WHEN isinf({column}) THEN {endless} ELSE epoch({column}) END")
        known = ~np.isnan(seconds)
        days = np.full(len(seconds), np.datetime64("NaT"), dtype="datetime64[D]")
        days[known] = np.floor(seconds[known] / 86400).astype(np.int64).astype("datetime64[D]")
        return days

    def _number(self, column: str) -> str:
        """A text read as a number, null where it is none."""
        return f"TRY_CAST({column} AS DOUBLE)"

    def _unread(self, column: str) -> int:
        """How many texts are neither blank nor a number."""
        query = f"SELECT count(*) FROM taken WHERE {self._number(column)} IS NULL AND trim({column}, ?) <> ''"
        return int(self._engine.execute(query, [BLANKS]).fetchall()[0][0])

    def _values(self, column: str, storage: str, table: str = "taken") -> tuple[NDArray[np.intp], list[Any]]:
        """Where each row stands in a list of values, as a DataFrame would hold them; null is -1."""
        if storage == "BLOB":  # as text it would be escaped, and one odd byte makes a whole column of texts a BLOB
            positions, found = self._packed(column, table)
            return positions, found.to_pylist()
        # a float prints as the double of the same value, whatever its width
        printed = f"CAST({column} AS DOUBLE)" if _FLOAT.match(storage) else column
        positions, found = self._packed(f"CAST({printed} AS VARCHAR)", table)
        read = next((read for types, read in _READ if types.match(storage)), None)
        return positions, found.to_pylist() if read is None else [read(text) for text in found.to_pylist()]

    def _packed(self, expression: str, table: str = "taken") -> tuple[NDArray[np.intp], pa.Array]:
        """Where each row stands in a list of distinct values (in order of appearance); null is -1."""
        query = f"SELECT {expression} AS value FROM {table}"
        if self._in_place:
            # Texts without end meet the engine's limit of memory in a copy, before they are handed over.
            self._engine.execute(f"CREATE OR REPLACE TEMP TABLE kept AS {query}")
            query = "SELECT value FROM kept"
        found = self._engine.sql(query).to_arrow_table()
        packed = found.column(0).dictionary_encode().combine_chunks()
        return packed.indices.fill_null(-1).to_numpy().astype(np.intp), packed.dictionary


_NESTED = re.compile(r"STRUCT|MAP|UNION|LIST|ARRAY|VARIANT")
_WHOLE = re.compile(r"U?(TINY|SMALL|BIG)?INT(EGER)?$")
_FLOAT = re.compile(r"DOUBLE|FLOAT")
_DIGITS = re.compile(r"DECIMAL|U?HUGEINT|BIGNUM")
_TIME = re.compile(r"DATE|TIMESTAMP")
_READ: tuple[tuple[re.Pattern[str], Callable[[Any], object]], ...] = (
    (_WHOLE, int),
    (_FLOAT, float),
    (_DIGITS, Decimal),
    (_TIME, moment),
    (re.compile("BOOLEAN"), "true".__eq__),
)
"""What a printed value of a type means: the same as a DataFrame would hold, whichever type its writer chose."""
