"""The private table: raw rows are read once, encoded by the public schema, and forgotten; only counts come out.

`source.py` opens what holds the rows (`formats/` reads it, and has all SQL), `contribution_limit.py` says which of them
stay, `counting.py` counts and `column_store.py` keeps the codes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import IntArray
from core.base.errors import BadFile, BadParameter, BadSchema, printable
from core.privacy.unit import Unit
from core.schema.attributes import Attribute
from core.schema.domain import Domain
from core.table import column_store, contribution_limit, counting
from core.table.counts import Projected
from core.table.formats.renamed import RenamedRows
from core.table.raw_columns import RawColumns, TextTally
from core.table.row_source import CHANGED, Column, RowPiece, Rows
from core.table.same_rows import RowSketch, SketchDrawing
from core.table.sentences import NO_ROWS, without_cell_values
from core.table.source import TableSource, opened

__all__ = ["Column", "Table", "TableSource", "inspect", "survey"]


class Keys(Protocol):
    """The one thing a table needs from `noise.Noise`: independent uniform 64-bit words."""

    def keys(self, count: int) -> NDArray[np.uint64]: ...


@without_cell_values
def inspect(source: TableSource) -> tuple[Column, ...]:
    """Column names and storage types; no row is looked at. Columns of a text file are all VARCHAR."""
    with opened(source) as rows:
        return rows.columns


@without_cell_values
def survey(
    source: TableSource, names: Sequence[str], unit: Unit, noise: Keys, *, key: str | None = None
) -> tuple[RawColumns, str]:
    """The distinct values of some columns before any schema, for the kernel alone, and the fingerprint.

    With a key the columns come with a sketch of the rows.

    **Privacy**: rows are limited per id as in `Table.load`, so neighbouring tables differ by at most `unit.limit` rows.
    """
    with opened(source) as rows:
        count, kept = _taken(rows, names, unit, noise)
        tallies = {name: TextTally() for name in names}
        drawing = _drawing(rows, names, unit, count, key)
        for piece, stays in _pieces(rows, _with_id(names, unit, key), count, kept, drawing):
            for name, tally in tallies.items():
                positions, texts = piece.texts(name)
                tally.add(positions[stays], texts)
        found = {name: tally.column() for name, tally in tallies.items()}
        return RawColumns(found, unit, None if drawing is None else drawing.sketch()), rows.fingerprint()


def _with_id(asked: Sequence[Attribute] | Sequence[str], unit: Unit, key: str | None) -> list[Attribute | str]:
    """What is read of every row: the id too, where rows are to be recognised."""
    names = {each if isinstance(each, str) else each.name for each in asked}
    return [*asked, *([] if key is None or unit.column is None or unit.column in names else [unit.column])]


def _drawing(rows: Rows, names: Sequence[str], unit: Unit, count: int, key: str | None) -> SketchDrawing | None:
    """The sketch of the columns that are read, ids included."""
    if key is None:
        return None
    taken = list(dict.fromkeys([*names, *([] if unit.column is None else [unit.column])]))
    # By the names of the source: a table is recognised whatever its curator calls its columns.
    known = rows.own(taken) if isinstance(rows, RenamedRows) else taken
    return SketchDrawing(dict(zip(taken, known, strict=True)), count, key)


def _pieces(
    rows: Rows,
    asked: Sequence[Attribute | str],
    count: int,
    kept: NDArray[np.bool_] | None,
    drawing: SketchDrawing | None,
) -> Iterator[tuple[RowPiece, slice | NDArray[np.bool_]]]:
    """All rows in pieces, each with which of its rows stay; the sketch is of all of them."""
    read = 0
    for piece in rows.pieces(asked):
        yield piece, slice(None) if kept is None else kept[read : read + piece.count]
        if drawing is not None:
            drawing.add(piece)
        read += piece.count
    if read != count:
        raise BadFile(CHANGED)


def _taken(rows: Rows, names: Sequence[str], unit: Unit, noise: Keys) -> tuple[int, NDArray[np.bool_] | None]:
    """Choose these columns; gives the number of rows, and which of them count where ids have a limit."""
    known = {column.name for column in rows.columns}
    for name in names:
        if name not in known:
            raise BadSchema(f"The table has no column '{printable(name)}'; correct or remove it in the schema.")
    if unit.column is not None and unit.column not in known:
        raise BadSchema(f"The table has no id column '{printable(unit.column)}'; choose one that exists.")
    count = rows.take([*names, *([] if unit.column is None else [unit.column])])
    if count == 0:
        raise BadFile(NO_ROWS)
    if unit.column is None:
        return count, None
    kept = np.zeros(count, dtype=np.bool_)
    keys = contribution_limit.RowKeys.of(noise.keys(contribution_limit.SECRET_WORDS))
    for numbers, owners in rows.owners(unit.column):
        kept[numbers[contribution_limit.keep_smallest(owners, keys.at(numbers), unit.limit)]] = True
    if not kept.any():
        raise BadFile(f"No row has an id in column '{printable(unit.column)}'; choose another id column.")
    return count, kept


@dataclass(frozen=True, kw_only=True, eq=False)
class Table:
    """Encoded rows of a private table; implements `counts.Counts`. Everything but schema and unit is curator-only."""

    domain: Domain
    unit: Unit
    codes: dict[str, NDArray[Any]] = field(repr=False)
    """One array of codes per column of the schema."""
    misfits: dict[str, int] = field(repr=False)
    """Values per column that the rules of the schema had to change, counted before rows were dropped."""
    dropped_rows: int = field(repr=False)
    """Rows left out because their unit had more than its limit, or because they had no id."""
    layout: tuple[str, ...]
    """The columns of the schema in the order that they have in the source. Public, unlike their storage types, which
    a single row can change."""
    fingerprint: str = field(repr=False)
    """SHA-256 of the source: the bytes of a file, or the contents of a DataFrame or DuckDB table."""
    sketch: RowSketch | None = field(default=None, repr=False)
    """Of the raw rows, to find tables of the same ones; not kept with the codes."""
    _remembered: counting.CountMemory = field(default_factory=counting.CountMemory, init=False, repr=False)

    @classmethod
    @without_cell_values
    def load(
        cls,
        source: TableSource,
        domain: Domain,
        unit: Unit,
        noise: Keys,
        *,
        key: str | None = None,
        store: column_store.Store | None = None,
    ) -> Table:
        """Read, check and encode a table.

        Columns outside the schema are ignored; a column of the schema that the source lacks is refused. With a key the
        table comes with a sketch of its rows. Codes go to the store, else into memory.

        **Privacy**: with an id column each id keeps at most `unit.limit` rows, chosen uniformly at random (the smallest
        of independent keys, made of a secret that is drawn for this table) and then fixed. The choice for one id looks
        at no other id: rows that move to other places because an id comes or goes get keys of the same distribution. So
        neighbouring tables still differ by at most `unit.limit` rows. Rows without an id are dropped: several of them
        could belong to one person, whom no limit would then protect. Ids are compared as exact text and forgotten
        afterwards.

        **Runtime**: one pass over the rows, with ids one more over theirs for every 8 million rows (16 million where
        there are more than 32 million); memory for a piece of the rows, a byte for each of them where ids have a limit,
        and for codes that are not stored.
        """
        store = column_store.InMemory() if store is None else store
        with opened(source) as rows:
            count, kept = _taken(rows, domain.names, unit, noise)
            left = count if kept is None else int(np.count_nonzero(kept))
            store.begin({attribute.name: attribute.dtype for attribute in domain}, left)
            misfits = dict.fromkeys(domain.names, 0)
            drawing = _drawing(rows, domain.names, unit, count, key)
            for piece, stays in _pieces(rows, _with_id(tuple(domain), unit, key), count, kept, drawing):
                for attribute in domain:
                    codes, changed = piece.encode(attribute)
                    store.append(attribute.name, codes[stays])
                    misfits[attribute.name] += changed
            fingerprint = rows.fingerprint()
            layout = tuple(column.name for column in rows.columns if column.name in domain)
        return cls(
            domain=domain,
            unit=unit,
            codes=store.columns(),
            misfits=misfits,
            dropped_rows=count - left,
            layout=layout,
            fingerprint=fingerprint,
            sketch=None if drawing is None else drawing.sketch(),
        )

    @property
    def rows(self) -> int:
        """The exact number of rows that count: curator-only unless `public_rows` says otherwise."""
        return len(self.codes[self.domain.names[0]])

    @property
    def public_rows(self) -> int | None:
        """The number of rows, where neighbours replace one row so that it never changes; otherwise None."""
        return self.rows if self.unit.column is None and self.unit.neighbours == "replace" else None

    def marginal(self, columns: Sequence[str]) -> IntArray:
        """Exact counts of shape `domain.shape(columns)`; no columns gives the number of rows."""
        known = self._remembered.find(columns)
        if known is not None:
            return known
        sizes = self.domain.shape(columns)
        counts = counting.histogram([self.codes[name] for name in columns], sizes, self.rows)
        self._remembered.keep(columns, counts, self.rows)
        return counts

    def combinations(self, columns: Sequence[str]) -> tuple[IntArray, IntArray]:
        """Distinct combinations of codes that occur, in order, and how often."""
        sizes = self.domain.shape(columns)
        return counting.occurring([self.codes[name] for name in columns], sizes, self.rows)

    def project(self, columns: Sequence[str]) -> Projected:
        """The same rows seen through some of their columns."""
        return Projected(self, self.domain.project(columns))

    def part(self, kept: NDArray[np.bool_]) -> Table:
        """Some of the rows as a table of their own, for the curator's eyes only: whose rows they are is private."""
        return replace(self, codes={name: np.asarray(codes)[kept] for name, codes in self.codes.items()}, sketch=None)

    def interval(self, column: str, low: int, high: int) -> int:
        """How many rows have a code from `low` to `high`, both included."""
        size = self.domain[column].size
        if not 0 <= low <= high < size:
            raise BadParameter("interval", f"column '{printable(column)}' has the codes 0 to {size - 1:,}.")
        codes = self.codes[column]
        return int(np.count_nonzero((codes >= low) & (codes <= high)))

    def total_of(self, column: str) -> int:
        """Sum of the codes of a column; 'other' and 'missing' count as 0, so a row adds from 0 to `regular - 1`.

        With one cell per value, the sum of the clipped values is this plus `low` times the rows that are not missing.
        """
        regular = self.domain[column].regular
        codes = self.codes[column]
        return int(np.sum(codes, where=codes < regular, dtype=np.int64))

    def save(self, folder: str | Path, draft: column_store.DraftColumns | None = None) -> None:
        """Keep the encoded columns in a new folder, which appears complete or not at all: the draft that they were
        written to when the table was loaded, or a copy of them."""
        facts = {
            "domain": self.domain.to_json(),
            "unit": self.unit.to_json(),
            "misfits": self.misfits,
            "dropped_rows": self.dropped_rows,
            "layout": self.layout,
            "fingerprint": self.fingerprint,
        }
        if draft is None:
            column_store.save(Path(folder), self.codes, facts)
        else:
            draft.keep(Path(folder), facts)

    @classmethod
    def open(cls, folder: str | Path) -> Table:
        """The table that `save` kept; columns are mapped from disk, not read into memory."""
        codes, facts = column_store.load(Path(folder))
        return cls(
            domain=Domain.from_json(facts["domain"]),
            unit=Unit.from_json(facts["unit"]),
            codes=codes,
            misfits=facts["misfits"],
            dropped_rows=facts["dropped_rows"],
            layout=tuple(facts["layout"]),  # names alone; earlier versions kept storage types beside them
            fingerprint=facts["fingerprint"],
        )
