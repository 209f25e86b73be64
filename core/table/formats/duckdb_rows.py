"""Rows behind DuckDB. Its own error texts quote cells, so whoever calls this replaces each by a fixed sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from core.base.errors import BadFile, BadSchema, printable
from core.schema.attributes import Attribute
from core.schema.spellings import text_of
from core.table.formats import column_encoding
from core.table.formats.column_encoding import Positions, Readable, Reading
from core.table.formats.engine import lock
from core.table.formats.value_memory import ValueMemory
from core.table.row_source import NESTED, Column, check_told_apart
from core.table.sentences import TOO_LARGE

PIECE = 1 << 15
"""Rows that are fetched at a time, at most: four times as many take 100 MB more while a text file is read, and no less
time (measured)."""
PIECE_BYTES = 128 << 20
"""What the cells of a piece may take, were each text as long as the longest of its column."""
FIXED = 24
"""Bytes of a cell beside its text: a number, or where the text stands; and its place among the distinct values."""
GROUP, MANY_GROUPS = 1 << 23, 4
"""Rows whose ids are compared at a time: some 100 bytes for each while it is decided which of them stay. Each group is
one more pass over all ids, so twice as many are taken where there would be more than so many groups."""


class DuckRows:
    """Rows behind DuckDB. `origin` is a FROM clause that names the columns c0, c1, ...

    They are read in pieces and `in_place` where they can be, so that a table may be larger than memory; others are
    copied into memory once. `room` is how many bytes the texts of a column may have.
    """

    def __init__(
        self,
        engine: duckdb.DuckDBPyConnection,
        columns: Iterable[Column],
        origin: str,
        in_place: bool,
        room: float,
    ) -> None:
        self.columns = tuple(columns)
        self._engine = engine
        self._origin = origin
        self._in_place = in_place
        self._room = room
        self._places = {column.name: place for place, column in enumerate(self.columns)}
        self._count, self._piece = 0, PIECE

    def take(self, names: Sequence[str]) -> int:
        for name in names:
            if _NESTED.search(self.columns[self._places[name]].type):
                raise BadSchema(NESTED.format(printable(name)))
        places = sorted({self._places[name] for name in names})
        wanted = ", ".join(f"c{place}" for place in places)
        kind = "VIEW" if self._in_place else "TABLE"
        self._engine.execute(f"CREATE TEMP {kind} taken AS SELECT {wanted} FROM {self._origin}")
        lock(self._engine)
        self._count, self._piece = self._measured(places)
        return self._count

    def _measured(self, places: Sequence[int]) -> tuple[int, int]:
        """The number of rows, and how many make a piece that fits into memory.

        A text that a small file holds once can stand in millions of its rows; so what all of them take is known before
        the first is fetched.
        """
        lengths = [_length(place, self.columns[place].type) for place in places if self._long(place)]
        sums = "".join(f", coalesce(max({each}), 0), coalesce(sum({each}), 0)" for each in lengths)
        count, *found = self._engine.execute(f"SELECT count(*){sums} FROM taken").fetchall()[0]
        if max(found[1::2], default=0) > self._room:
            raise BadFile(TOO_LARGE)
        return int(count), min(PIECE, max(1, PIECE_BYTES // (FIXED * len(places) + int(sum(found[::2])))))

    def _long(self, place: int) -> bool:
        """Whether values of a column may be of any length."""
        return not _SHORT.match(self.columns[place].type)

    def pieces(self, asked: Sequence[Attribute | str]) -> Iterator[DuckPiece]:
        fetched = {each if isinstance(each, str) else each.name: self._reading(each) for each in asked}
        places: dict[str, slice] = {}
        expressions: list[str] = []
        for name, reading in fetched.items():
            places[name] = slice(len(expressions), len(expressions) + len(reading.expressions))
            expressions += reading.expressions
        memories = {each.name: ValueMemory(_codes_by(each)) for each in asked if not isinstance(each, str)}
        for arrays in self._fetched(expressions, "taken"):
            yield DuckPiece(arrays, fetched, places, memories)

    def _reading(self, asked: Attribute | str) -> Reading:
        place = self._places[asked if isinstance(asked, str) else asked.name]
        return column_encoding.reading(asked, f"c{place}", self.columns[place].type, self._number)

    def _fetched(self, expressions: Sequence[str], table: str) -> Iterator[list[pa.Array]]:
        wanted = ", ".join(f"{expression} AS e{place}" for place, expression in enumerate(expressions))
        # a relation streams; the result of a statement would be copied whole
        for batch in self._engine.sql(f"SELECT {wanted} FROM {table}").to_arrow_reader(self._piece):
            yield batch.columns

    def owners(self, name: str) -> Iterator[tuple[Positions, Positions]]:
        value = self._owner(name)
        groups = -(-self._count // GROUP)
        groups = groups if groups <= MANY_GROUPS else -(-groups // 2)
        numbered = f"(SELECT {value} AS value, row_number() OVER () - 1 AS number FROM taken)"
        for group in range(groups):
            # Equal ids have equal hashes, so they are in one group; different ones are compared as they are.
            where = f" WHERE coalesce(hash(value), 0) % {groups:d} = {group:d}" if groups > 1 else ""
            yield numbered_owners(list(self._fetched(["number", "value"], numbered + where)))

    def _owner(self, name: str) -> str:
        """An id, checked to be exact: a whole number, or a text."""
        place = self._places[name]
        column, storage = f"c{place}", self.columns[place].type
        if column_encoding.FLOAT.match(storage):
            query = f"SELECT count(*) FROM taken WHERE isfinite({column}) AND abs({column}) >= ?"
            found = self._engine.execute(query, [2.0 ** (24 if storage == "FLOAT" else 53)]).fetchall()
            check_told_apart(name, found[0][0] > 0)
            column = f"CASE WHEN NOT isnan({column}) THEN {column} + 0 END"  # -0 is 0, and no number is no id
        return column if column_encoding.WHOLE.match(storage) else f"CAST({column} AS VARCHAR)"

    def fingerprint(self) -> str:
        raise NotImplementedError

    def _number(self, column: str) -> str:
        """A text read as a number, null where it is none."""
        return f"TRY_CAST({column} AS DOUBLE)"

    def _packed(self, expression: str, table: str) -> tuple[Positions, pa.Array]:
        """A whole column: where each row stands in a list of distinct values; null is -1."""
        # Texts without end meet the engine's limit of memory in a copy, before they are handed over.
        self._engine.execute(f"CREATE OR REPLACE TEMP TABLE kept AS SELECT {expression} AS value FROM {table}")
        return column_encoding.packed(self._engine.sql("SELECT value FROM kept").to_arrow_table().column(0))


@dataclass(frozen=True, eq=False)
class DuckPiece:
    """Some rows as Arrow arrays; implements `row_source.RowPiece`."""

    arrays: Sequence[pa.Array]
    readings: Mapping[str, Reading]
    places: Mapping[str, slice]
    memories: Mapping[str, ValueMemory[tuple[int, bool]]]
    """By column, the codes of values that were met before, and whether each is a misfit."""
    _found: dict[str, tuple[Positions, Sequence[object]]] = field(default_factory=dict, init=False)

    @property
    def count(self) -> int:
        return len(self.arrays[0])

    def encode(self, attribute: Attribute) -> tuple[NDArray[Any], int]:
        fetched = self.readings[attribute.name]
        if isinstance(fetched, Readable):
            return fetched.encode(attribute, self.arrays[self.places[attribute.name]])
        positions, values = self._all(attribute.name)
        known = self.memories[attribute.name].of([*values, None])  # null has position -1, the last entry
        codes = np.fromiter((code for code, _ in known), attribute.dtype, len(known))
        changed = np.fromiter((misfit for _, misfit in known), np.bool_, len(known))
        return codes[positions], int(np.count_nonzero(changed[positions])) if changed.any() else 0

    def texts(self, name: str) -> tuple[Positions, list[str]]:
        positions, values = self._all(name)
        return positions, [text_of(value) for value in values]

    def values(self, name: str, rows: slice) -> tuple[Positions, Sequence[object]]:
        chosen = np.arange(self.count)[rows]
        if len(chosen) == self.count:
            return self._all(name)
        arrays = [array.take(pa.array(chosen)) for array in self.arrays[self.places[name]]]
        return self.readings[name].values(arrays)

    def _all(self, name: str) -> tuple[Positions, Sequence[object]]:
        """Found once: what is encoded is also compared."""
        if name not in self._found:
            self._found[name] = self.readings[name].values(self.arrays[self.places[name]])
        return self._found[name]


def _codes_by(attribute: Attribute) -> Callable[[Sequence[object]], list[tuple[int, bool]]]:
    def encoded(values: Sequence[object]) -> list[tuple[int, bool]]:
        codes, changed = attribute.encode(values)
        return list(zip(codes.tolist(), changed.tolist(), strict=True))

    return encoded


def numbered_owners(fetched: list[list[pa.Array]]) -> tuple[Positions, Positions]:
    """Numbers of rows, and for each a number that is the same for equal ids."""
    if not fetched:
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
    numbers = np.concatenate([arrays[0].to_numpy() for arrays in fetched]).astype(np.intp, copy=False)
    positions, found = column_encoding.packed(pa.chunked_array([arrays[1] for arrays in fetched]))
    if pa.types.is_integer(found.type):
        return numbers, positions
    blank = found.index("").as_py()  # -1, the place of null, where no id is empty
    return numbers, np.where(positions == blank, -1, positions)


def _length(place: int, storage: str) -> str:
    return f"octet_length(c{place})" if storage == "BLOB" else f"strlen(CAST(c{place} AS VARCHAR))"


_NESTED = re.compile(r"STRUCT|MAP|UNION|LIST|ARRAY|VARIANT")
_SHORT = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?$|DOUBLE|FLOAT|DECIMAL|DATE|TIME|BOOLEAN|UUID")
