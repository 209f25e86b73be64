"""A private table whose rows stay on a Spark cluster: they are read once, encoded where they are, and counted there.

What comes to the desk is whole numbers: tables of counts, misfits, numbers of rows, and sums of hashes for the
fingerprint. `ClusterRows` reads, `RowEncoding` and `LimitedRows` encode, `BlockCounts` counts; the last three run on
the executors, by the same code as in a local table.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from core.base.arrays import Columns, IntArray
from core.base.errors import BadFile, DeskError, printable
from core.privacy.unit import Unit
from core.schema.domain import Domain
from core.table import column_store, counting
from core.table.contribution_limit import SECRET_WORDS, RowKeys
from core.table.counts import Projected
from core.table.row_source import CHANGED, Column
from core.table.same_rows import RowSketch
from core.table.sentences import DAMAGED
from core.table.spark.added_vectors import SLICES, added
from core.table.spark.block_counts import COMBINED, BlockCombinations, BlockCounts, BlockFacts
from core.table.spark.cluster_rows import ClusterRows, Contents
from core.table.spark.count_store import CountStore
from core.table.spark.counted_sketch import counted_sketch
from core.table.spark.encoded_blocks import BlockLayout
from core.table.spark.failures import from_cluster
from core.table.spark.limited_rows import LimitedRows
from core.table.spark.row_bundles import BUNDLE
from core.table.spark.row_encoding import RowEncoding
from core.table.spark.spark_session import session
from core.table.spark.spark_source import SparkSource
from core.table.table import Keys

MOST_TOGETHER = 2**22
"""Cells that one job counts: 32 MB in every task; with more, there are more jobs."""
DENSE = 2**20
"""Cells up to which a table is counted whole; of larger ones, combinations that occur."""
_GONE = "The encoded columns of this table are no longer on the cluster; add the table again."


@from_cluster
def columns_on_cluster(source: SparkSource) -> tuple[Column, ...]:
    """Column names and storage types; no row is looked at."""
    return ClusterRows(source).columns


@dataclass(frozen=True, kw_only=True, eq=False)
class SparkTable:
    """A table on a cluster; implements `counts.Counts`. Everything but schema and unit is curator-only."""

    domain: Domain
    unit: Unit
    source: SparkSource
    place: str
    """Where the encoded columns lie on the cluster."""
    rows: int = field(repr=False)
    misfits: dict[str, int] = field(repr=False)
    dropped_rows: int = field(repr=False)
    layout: tuple[str, ...]
    fingerprint: str = field(repr=False)
    """Of the contents (`ClusterRows`)."""
    sketch: RowSketch | None = field(default=None, repr=False)
    """Of counts alone, to find tables of the same rows (`counted_sketch`); None where rows were dropped."""
    _known: CountStore = field(default_factory=CountStore, repr=False)

    @classmethod
    @from_cluster
    def load(
        cls, source: SparkSource, domain: Domain, unit: Unit, noise: Keys, *, key: str | None = None
    ) -> SparkTable:
        """Check and encode a table on the cluster, as `Table.load` does here, into the folder that the source names.

        With a key the table comes with a sketch, unless rows were dropped for their ids.

        What is encoded already, from the same contents by the same schema, is used again: a task that was interrupted
        is taken up by adding the table once more.

        **Privacy** as `Table.load`: the same rows of an id stay, by the same keys of their places, whichever executor
        reads them and however often. Ids are exchanged between executors and forgotten; they never leave the cluster.
        """
        rows = ClusterRows(source)
        rows.check(domain.names, unit.column)
        contents = rows.contents()
        place = f"{source.folder.rstrip('/')}/{_identity(contents, domain, unit)}"
        facts = _facts(source, place, domain)
        if facts is None or facts[1] != contents.rows:
            _encode(rows, domain, unit, noise, place)
            facts = _facts(source, place, domain)
        if facts is None or facts[1] != contents.rows:
            raise BadFile(CHANGED)
        kept, read, *misfits = facts.tolist()
        if not kept:
            raise BadFile(f"No row has an id in column '{printable(unit.column)}'; choose another id column.")
        found = cls(
            domain=domain,
            unit=unit,
            source=source,
            place=place,
            rows=kept,
            misfits=dict(zip(domain.names, misfits, strict=True)),
            dropped_rows=read - kept,
            layout=tuple(column.name for column in rows.columns if column.name in domain),
            fingerprint=contents.fingerprint,
        )
        if key is None or found.dropped_rows:
            return found
        return replace(found, sketch=counted_sketch(found, found.misfits, found.rows, key))

    @property
    def public_rows(self) -> int | None:
        """The number of rows, where neighbours replace one row so that it never changes; otherwise None."""
        return self.rows if self.unit.public_rows else None

    def marginal(self, columns: Sequence[str]) -> IntArray:
        """Exact counts of shape `domain.shape(columns)`; no columns gives the number of rows."""
        if not columns:
            return np.array(self.rows, dtype=np.int64)
        if self.domain.cells(columns) > DENSE and len(columns) > 1:
            counting.check_cells(self.domain.shape(columns))
            codes, often = self.combinations(columns)
            table = np.zeros(self.domain.shape(columns), dtype=np.int64)
            table[tuple(codes.T)] = often
            return table
        self.prepare([columns])
        found = self._known.find(columns)
        assert found is not None
        return found

    def prepare(self, tables: Sequence[Sequence[str]]) -> None:
        """Count what will be asked for, all in one pass over the rows, or in few where there are many cells."""
        wanted = {frozenset(each): tuple(each) for each in tables if each and self._known.lacks(each)}
        waiting: list[Columns] = []
        cells = 0
        for columns in wanted.values():
            size = self.domain.cells(columns)
            if size > DENSE and len(columns) > 1:
                continue
            if waiting and cells + size > MOST_TOGETHER:
                self._count(waiting)
                waiting, cells = [], 0
            waiting.append(columns)
            cells += size
        if waiting:
            self._count(waiting)

    @from_cluster
    def _count(self, tables: Sequence[Columns]) -> None:
        shapes = tuple(self.domain.shape(columns) for columns in tables)
        asked = BlockCounts(BlockLayout.of(self.domain), tuple(tables), shapes)
        found = added(self._blocks(asked.columns).mapInArrow(asked.vectors, SLICES))
        if found is None:
            raise BadFile(_GONE)
        counted = asked.split(found)
        if any(int(table.sum()) != self.rows for table in counted.values()):
            raise BadFile(_GONE)
        self._known.keep(counted.items())

    @from_cluster
    def combinations(self, columns: Sequence[str]) -> tuple[IntArray, IntArray]:
        """Distinct combinations of codes that occur, in order, and how often."""
        if self.domain.cells(columns) <= DENSE:
            table = self.marginal(columns)
            codes = np.argwhere(table).astype(np.int64)
            return codes, table[tuple(codes.T)] if columns else table.reshape(1)
        asked = BlockCombinations(BlockLayout.of(self.domain), tuple(columns), self.domain.shape(columns))
        found = self._blocks(columns).mapInArrow(asked.found, COMBINED)
        told = found.groupBy("combination").agg({"often": "sum"}).toArrow()
        return asked.joined(told.column(0).to_pylist(), told.column(1).to_numpy())

    def project(self, columns: Sequence[str]) -> Projected:
        """The same rows seen through some of their columns."""
        return Projected(self, self.domain.project(columns))

    def _blocks(self, columns: Sequence[str]) -> Any:
        layout = BlockLayout.of(self.domain)
        stored = session(self.source.address).read.parquet(self.place)
        return stored.select("kept", *(layout.field(name) for name in columns))

    def save(self, folder: str | Path, draft: column_store.DraftColumns | None = None) -> None:
        """Keep where the table is; a folder of codes, which nobody began, is left alone."""
        facts = {
            "spark": self.source.to_json(),
            "place": self.place,
            "rows": self.rows,
            "domain": self.domain.to_json(),
            "unit": self.unit.to_json(),
            "misfits": self.misfits,
            "dropped_rows": self.dropped_rows,
            "layout": self.layout,
            "fingerprint": self.fingerprint,
        }
        column_store.save(Path(folder), {}, facts)

    @classmethod
    def open(cls, folder: str | Path) -> SparkTable | None:
        """The table that `save` kept; None where the folder holds another kind. Spark is asked when something is."""
        try:
            facts = json.loads((Path(folder) / "table.json").read_text(encoding="utf-8"))
            if "spark" not in facts:
                return None
            return cls(
                domain=Domain.from_json(facts["domain"]),
                unit=Unit.from_json(facts["unit"]),
                source=SparkSource.from_json(facts["spark"]),
                place=facts["place"],
                rows=facts["rows"],
                misfits=facts["misfits"],
                dropped_rows=facts["dropped_rows"],
                layout=tuple(facts["layout"]),
                fingerprint=facts["fingerprint"],
            )
        except (OSError, ValueError, KeyError, TypeError, DeskError):
            raise BadFile(DAMAGED) from None


def _identity(contents: Contents, domain: Domain, unit: Unit) -> str:
    """The same for the same contents, encoded by the same schema, with the same limit."""
    parts = [contents.fingerprint, domain.to_json(), unit.column, unit.limit]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def _encode(rows: ClusterRows, domain: Domain, unit: Unit, noise: Keys, place: str) -> None:
    names = list(dict.fromkeys([*domain.names, *([] if unit.column is None else [unit.column])]))
    encoding = RowEncoding(domain.to_json(), tuple(names))
    layout = BlockLayout.of(domain)
    if unit.column is None:
        encoded = rows.fetched(names, placed=False).mapInArrow(encoding.blocks, layout.schema)
    else:
        limited = LimitedRows(
            encoding=encoding,
            column=unit.column,
            limit=unit.limit,
            keys=RowKeys.of(noise.keys(SECRET_WORDS)),
            starts=rows.starts(),
        )
        exchanged = rows.fetched(names, placed=True).mapInArrow(limited.rows, BUNDLE).repartition("part")
        encoded = exchanged.mapInArrow(limited.blocks, layout.schema)
    encoded.write.mode("overwrite").parquet(place)


def _facts(source: SparkSource, place: str, domain: Domain) -> IntArray | None:
    """Rows that are kept and that were read, and misfits; None where nothing is stored."""
    from pyspark.errors import AnalysisException

    try:
        stored = session(source.address).read.parquet(place).select("kept", "read", "misfits")
        return added(stored.mapInArrow(BlockFacts(len(domain)).vectors, SLICES))
    except AnalysisException:
        return None
