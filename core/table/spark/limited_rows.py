"""At most so many rows of an id, on the executors: encoded rows travel once, to the task that has all rows of their id.

Each task first keeps the smallest keys of every id among some rows, which drops no row that would stay in the end; then
the task that gets all rows of an id keeps the smallest again. Keys follow from places (`contribution_limit.RowKeys`),
so the rows that stay are those that the embedded engine keeps. What travels is bundles (`row_bundles.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from core.base.arrays import IntArray
from core.base.errors import BadFile
from core.schema.domain import Domain
from core.table.column_store import EncodedColumns
from core.table.contribution_limit import RowKeys, keep_smallest
from core.table.formats.arrow_rows import arrow_rows
from core.table.formats.column_encoding import packed
from core.table.row_source import CHANGED
from core.table.spark.encoded_blocks import BlockLayout
from core.table.spark.failures import told_plainly
from core.table.spark.row_bundles import Bytes, OwnedRows, bundled, joined, unbundled
from core.table.spark.row_encoding import RowEncoding, encoded

LARGEST_BLOCK = 1 << 18
TOGETHER = 32 << 20
"""Bytes of rows among which a task looks for the smallest keys of each id: a million rows of 15 columns."""


@dataclass(frozen=True)
class LimitedRows:
    """What the tasks before and after the exchange of rows need."""

    encoding: RowEncoding
    column: str
    """With the ids."""
    limit: int
    keys: RowKeys = field(repr=False)
    starts: Mapping[int, int] = field(repr=False)
    """The place in the table of the first row of each file, by the file's number."""

    def rows(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Before the exchange. The last two columns of a batch are the file and the place of each row in it."""
        return told_plainly(self._rows(batches))

    def _rows(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        domain = Domain.from_json(self.encoding.domain)
        waiting: list[OwnedRows] = []
        for batch in batches:
            if not batch.num_rows:
                continue
            with arrow_rows(self.encoding.table(batch)) as rows:
                codes, misfits = encoded(rows, domain)
                owners = rows.ids(self.column)
            keys = self.keys.at(self._places(batch))
            waiting.append(OwnedRows(owners, keys, _rowwise(codes), batch.num_rows, misfits))
            if sum(each.nbytes for each in waiting) >= TOGETHER:
                yield bundled(self._kept(joined(waiting)))
                waiting = []
        if waiting:
            yield bundled(self._kept(joined(waiting)))

    def _places(self, batch: pa.RecordBatch) -> IntArray:
        files, numbers = (np.asarray(batch.column(batch.num_columns - back).to_numpy()) for back in (2, 1))
        found, where = np.unique(files, return_inverse=True)
        if any(file not in self.starts for file in found.tolist()):
            raise BadFile(CHANGED)
        return np.asarray(np.array([self.starts[file] for file in found.tolist()], dtype=np.int64)[where] + numbers)

    def _kept(self, rows: OwnedRows) -> OwnedRows:
        return rows.take(keep_smallest(packed(rows.owners)[0], rows.keys, self.limit))

    def blocks(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """After the exchange: all rows of some ids become encoded blocks."""
        return told_plainly(self._blocks(batches))

    def _blocks(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        layout = BlockLayout.of(Domain.from_json(self.encoding.domain))
        widths = [np.dtype(dtype).itemsize for dtype in layout.dtypes]
        found = [batch for batch in batches if batch.num_rows]
        if not found:
            return
        rows = self._kept(unbundled(found, sum(widths), len(widths)))
        for start in range(0, max(len(rows.keys), 1), LARGEST_BLOCK):
            parts = np.split(rows.codes[start : start + LARGEST_BLOCK], np.cumsum(widths)[:-1], axis=1)
            columns: EncodedColumns = {
                name: np.ascontiguousarray(part).view(dtype).ravel()
                for name, dtype, part in zip(layout.names, layout.dtypes, parts, strict=True)
            }
            misfits = np.zeros_like(rows.misfits) if start else rows.misfits
            yield layout.block(columns, 0 if start else rows.read, misfits)


def _rowwise(codes: EncodedColumns) -> Bytes:
    """The codes of a row beside each other, as bytes."""
    columns = [
        np.ascontiguousarray(each).view(np.uint8).reshape(len(each), each.dtype.itemsize) for each in codes.values()
    ]
    return np.hstack(columns)
