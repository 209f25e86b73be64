"""Counting encoded blocks on the executors: every task adds up all wanted tables in one vector, and gives no more.

What all tasks gave is added up on the executors too (`added_vectors.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from core.base.arrays import Columns, IntArray
from core.table import counting
from core.table.spark.added_vectors import sliced
from core.table.spark.encoded_blocks import BlockLayout
from core.table.spark.failures import told_plainly

COMBINED = "combination binary, often long"


@dataclass(frozen=True)
class BlockCounts:
    """Tables that are counted in one pass over the blocks."""

    layout: BlockLayout
    tables: tuple[Columns, ...]
    shapes: tuple[tuple[int, ...], ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """Those that have to be read."""
        return tuple(dict.fromkeys(name for table in self.tables for name in table))

    def vectors(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One vector of a task, in slices: the cells of all tables, one after the other."""
        return told_plainly(self._vectors(batches))

    def _vectors(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        counted = [np.zeros(shape, dtype=np.int64) for shape in self.shapes]
        for rows, codes in self.layout.columns(batches, self.columns):
            for place, (table, shape) in enumerate(zip(self.tables, self.shapes, strict=True)):
                counted[place] += counting.histogram([codes[name] for name in table], shape, rows)
        whole = np.concatenate([each.ravel() for each in counted])
        yield sliced(whole)

    def split(self, vector: IntArray) -> dict[Columns, IntArray]:
        """The tables of a vector."""
        ends = np.cumsum([math.prod(shape) for shape in self.shapes])
        parts = np.split(vector, ends[:-1])
        return {table: part.reshape(shape) for table, shape, part in zip(self.tables, self.shapes, parts, strict=True)}

    @property
    def cells(self) -> int:
        return sum(math.prod(shape) for shape in self.shapes)


@dataclass(frozen=True)
class BlockFacts:
    """Rows that are kept and that were read, and misfits, of all blocks of a task."""

    columns: int

    def vectors(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return told_plainly(self._vectors(batches))

    def _vectors(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        whole = np.zeros(self.columns + 2, dtype=np.int64)
        for batch in batches:
            for kept, read, misfits in zip(*(batch.column(name) for name in ("kept", "read", "misfits")), strict=True):
                whole += np.array([kept.as_py(), read.as_py(), *np.frombuffer(misfits.as_buffer(), dtype="<i8")])
        yield sliced(whole)


@dataclass(frozen=True)
class BlockCombinations:
    """The combinations of codes that occur, for tables of too many cells."""

    layout: BlockLayout
    columns: Columns
    shape: tuple[int, ...]

    def found(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Each combination of some rows once, and how often it occurs."""
        return told_plainly(self._found(batches))

    def _found(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for rows, codes in self.layout.columns(batches, self.columns):
            found, often = counting.occurring([codes[name] for name in self.columns], self.shape, rows)
            packed = [line.tobytes() for line in found.astype("<u4")]
            yield pa.RecordBatch.from_pydict(
                {"combination": packed, "often": often},
                schema=pa.schema([("combination", pa.binary()), ("often", pa.int64())]),
            )

    def joined(self, combinations: Sequence[bytes], often: IntArray) -> tuple[IntArray, IntArray]:
        """What all tasks found, in order."""
        codes = np.frombuffer(b"".join(combinations), dtype="<u4").reshape(-1, len(self.columns)).astype(np.int64)
        order = np.lexsort(codes.T[::-1])
        return codes[order], np.asarray(often, dtype=np.int64)[order]
