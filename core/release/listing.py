"""The tables of counts that a release lists: one line per cell, one column per variable, for people and programs.

Which tables are listed, and in which order, follows from the plan and the schema alone: every table that the ticked
classes ask for, as far as there is room, the smallest first. Only behind them stand tables that the mechanism chose by
noisy answers; those are in the release anyway, as is what was measured and with how much noise, so to say it here tells
nothing new.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from core.base.arrays import Columns, Floats
from core.models.protocol import Model
from core.models.tables import Tables
from core.models.widened import Widened
from core.planning.room_for_noise import MOST_MOVED
from core.queries.kit.focus import asked_tables
from core.queries.kit.protocol import QueryClass
from core.release.files.spreadsheet import field
from core.schema.domain import Domain

MOST_LINES = 2**21
"""Twice the lines that a spreadsheet opens; they take a few seconds to write and some 10 MB in the archive."""
MOST_FIELDS = 2**26
"""Lines times columns: most fields of a sheet with many columns are blank, and this many are 64 MB of commas. All 595
pairs of 35 columns with 50 cells each have room."""
BATCH = 2**17
"""Lines that are laid out together for the Parquet file."""
MEASURED, INFERRED = "measured", "inferred"
EXTRA = ("table", "count", "standard_error", "expected_error", "source")
TEXT = pa.dictionary(pa.int32(), pa.string())


@dataclass(frozen=True, eq=False)
class ListedTable:
    """The counts of some columns, and where they come from."""

    columns: Columns
    """In the order of the schema."""
    counts: Floats
    source: str | None = None
    """'measured', 'inferred' from other measurements, or None where the mechanism does not say."""
    error: float = math.nan
    """Standard deviation of the noise in each measured cell; NaN where that is not one number, or not known."""
    expected: float = math.nan
    """The mean error of a count, in rows, noise and all that follows from it."""

    @property
    def name(self) -> str:
        return name_of(self.columns)


@dataclass(frozen=True, eq=False)
class Listing:
    """Tables of counts over the columns of a schema. Its own columns follow from the schema alone."""

    domain: Domain
    tables: Sequence[ListedTable]

    @property
    def header(self) -> tuple[str, ...]:
        """The table, every variable (blank where a table does not use it), the count, its errors and its source."""
        table, *others = (_free(name, self.domain) for name in EXTRA)
        return table, *self.domain.names, *others

    def doubtful(self, rows: float) -> list[Columns]:
        """Tables so noisy, by the errors to expect and the released number of rows, that associations are not told."""
        return [each.columns for each in self.tables if each.expected * each.counts.size / 2 > MOST_MOVED * rows]

    def csv(self) -> Iterator[bytes]:
        """The file, table by table; no text in it can start a formula."""
        yield (",".join(field(name) for name in self.header) + "\n").encode()
        written = {name: [field(label) for label in labels] for name, labels in self._labels.items()}
        for table in self.tables:
            sides = [written[name] if name in table.columns else [""] for name in self.domain.names]
            last = ",".join("" if math.isnan(each) else repr(_short(each)) for each in (table.error, table.expected))
            start, end = field(table.name), f",{last},{table.source or ''}\n"
            # Joined sides are shared by all the cells under them, which halves the time.
            middle = len(sides) // 2
            left = [f"{start},{','.join(parts)}," if parts else f"{start}," for parts in product(*sides[:middle])]
            right = [f"{','.join(parts)}," for parts in product(*sides[middle:])]
            cells = zip(product(left, right), table.counts.ravel().tolist(), strict=True)
            yield "".join([f"{one}{two}{count!r}{end}" for (one, two), count in cells]).encode()

    def parquet(self) -> bytes:
        """The same with the exact text."""
        buffer = io.BytesIO()
        types = [TEXT] * (1 + len(self.domain)) + [pa.float64(), pa.float64(), pa.float64(), TEXT]
        schema = pa.schema(list(zip(self.header, types, strict=True)))
        labels = {name: pa.array(listed, pa.string()) for name, listed in self._labels.items()}
        with pq.ParquetWriter(buffer, schema) as writer:
            for batch in self._batches():
                writer.write_table(pa.Table.from_arrays(_arrays(self.domain, labels, batch), schema=schema))
        return buffer.getvalue()

    @cached_property
    def _labels(self) -> dict[str, list[str]]:
        used = {name for table in self.tables for name in table.columns}
        return {
            attribute.name: [attribute.label(code) for code in range(attribute.size)] if attribute.name in used else []
            for attribute in self.domain
        }

    def _batches(self) -> Iterator[list[ListedTable]]:
        batch: list[ListedTable] = []
        lines = 0
        for table in self.tables:
            batch.append(table)
            lines += table.counts.size
            if lines >= BATCH:
                yield batch
                batch, lines = [], 0
        if batch:
            yield batch


def _arrays(domain: Domain, labels: Mapping[str, pa.Array], batch: Sequence[ListedTable]) -> list[pa.Array]:
    """The columns of some tables, one below the other."""
    sizes = [table.counts.size for table in batch]
    codes = {name: np.full(sum(sizes), -1, dtype=np.int32) for name in domain.names}
    start = 0
    for table, size in zip(batch, sizes, strict=True):
        for axis, name in enumerate(table.columns):
            shape = [-1 if place == axis else 1 for place in range(len(table.columns))]
            own = np.arange(domain[name].size, dtype=np.int32).reshape(shape)
            codes[name][start : start + size] = np.broadcast_to(own, table.counts.shape).ravel()
        start += size
    sources = pa.array([MEASURED, INFERRED])
    source = [(MEASURED, INFERRED).index(table.source) if table.source else -1 for table in batch]
    return [
        _texts(np.repeat(np.arange(len(batch)), sizes), pa.array([table.name for table in batch], pa.string())),
        *(_texts(codes[name], labels[name]) for name in domain.names),
        pa.array(np.concatenate([table.counts.ravel() for table in batch])),
        pa.array(np.repeat([_short(table.error) for table in batch], sizes), from_pandas=True),
        pa.array(np.repeat([_short(table.expected) for table in batch], sizes), from_pandas=True),
        _texts(np.repeat(source, sizes), sources),
    ]


def _texts(codes: np.ndarray, labels: pa.Array) -> pa.Array:
    """Texts by their places in a list; below 0 there is none."""
    places = pa.array(codes.astype(np.int32), mask=codes < 0)
    return pa.DictionaryArray.from_arrays(places, labels)


def announced(queries: Iterable[QueryClass], domain: Domain) -> tuple[Columns, ...]:
    """The column sets that the classes ask for, each once, in the order of the classes and with columns in that of the
    schema."""
    return in_order((columns for query in queries for columns in asked_tables(query, domain)), domain)


def in_order(sets: Iterable[Columns], domain: Domain) -> tuple[Columns, ...]:
    """The column sets, each once, with columns in the order of the schema."""
    return tuple(dict.fromkeys(tuple(name for name in domain.names if name in columns) for columns in map(set, sets)))


def fitting(sets: Iterable[Columns], domain: Domain, room: int) -> list[Columns]:
    """As many of the column sets, the smallest first, as have at most so many cells together; in the order given."""
    listed = list(dict.fromkeys(sets))
    kept, used = set(), 0
    for columns in sorted(listed, key=domain.cells):
        used += domain.cells(columns)
        if used > room:
            break
        kept.add(columns)
    return [columns for columns in listed if columns in kept]


def room_for(domain: Domain) -> int:
    """Lines of a sheet over this schema."""
    return min(MOST_LINES, MOST_FIELDS // (len(domain) + len(EXTRA)))


def listed_table(columns: Columns, counts: Floats, model: Model, usual: float) -> ListedTable:
    """The counts with what is known of where they come from; where a table's own error is not, the usual one."""
    inner = model.inner if isinstance(model, Widened) else model
    if not isinstance(inner, Tables):
        return ListedTable(columns, counts, expected=usual)
    measured = inner.measured
    return ListedTable(
        columns,
        counts,
        MEASURED if columns in measured else INFERRED,
        measured.get(columns, math.nan),
        inner.expected.get(columns, usual),
    )


def name_of(columns: Sequence[str]) -> str:
    """
    >>> name_of(("age", "ill")), name_of(())
    ('age x ill', 'all rows')
    """
    return " x ".join(columns) or "all rows"


def _free(name: str, domain: Domain) -> str:
    """The name, with underscores behind it where the schema has such a column."""
    while name in domain:
        name += "_"
    return name


def _short(number: float) -> float:
    """Four digits are more than a standard error needs."""
    return float(f"{number:.4g}")
