"""At most so many rows of an id, on the executors: encoded rows travel once, to the task that has all rows of their id.

Each batch first keeps the smallest keys of every id in it, which drops no row that would stay in the end; then the task
that gets all rows of an id keeps the smallest again. Keys follow from places (`contribution_limit.RowKeys`), so the
rows that stay are those that the embedded engine keeps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

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
from core.table.spark.row_encoding import RowEncoding, encoded

LARGEST_BLOCK = 1 << 18
Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class LimitedRows:
    """What the tasks before and after the exchange of rows need."""

    encoding: RowEncoding
    column: str
    """With the ids."""
    limit: int
    whole: bool
    """Whether ids are whole numbers."""
    keys: RowKeys = field(repr=False)
    starts: Mapping[int, int] = field(repr=False)
    """The place in the table of the first row of each file, by the file's number."""

    @property
    def schema(self) -> str:
        """Of what is exchanged: an id with the key and codes of a row; or, without an id, what was read."""
        return f"owner {'long' if self.whole else 'string'}, key long, codes binary, read long, misfits binary"

    def rows(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Before the exchange. The last two columns of a batch are the file and the place of each row in it."""
        return told_plainly(self._rows(batches))

    def _rows(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        domain = Domain.from_json(self.encoding.domain)
        for batch in batches:
            if not batch.num_rows:
                continue
            with arrow_rows(self.encoding.table(batch)) as rows:
                codes, misfits = encoded(rows, domain)
                owners = rows.ids(self.column)
            keys = self.keys.at(self._places(batch))
            stays = keep_smallest(packed(owners)[0], keys, self.limit)
            yield self._exchanged(owners.take(pa.array(stays)), keys[stays], _rowwise(codes)[stays], len(keys), misfits)

    def _places(self, batch: pa.RecordBatch) -> IntArray:
        files, numbers = (np.asarray(batch.column(batch.num_columns - back).to_numpy()) for back in (2, 1))
        found, where = np.unique(files, return_inverse=True)
        if any(file not in self.starts for file in found.tolist()):
            raise BadFile(CHANGED)
        return np.asarray(np.array([self.starts[file] for file in found.tolist()], dtype=np.int64)[where] + numbers)

    def _exchanged(
        self, owners: pa.Array, keys: NDArray[np.uint64], codes: Bytes, read: int, misfits: IntArray
    ) -> pa.RecordBatch:
        """The rows that stay, and one more that tells what was read."""
        width = codes.shape[1]
        offsets = np.append(np.arange(len(codes) + 1, dtype=np.int32) * width, np.int32(len(codes) * width))
        none = len(codes)
        columns = {
            "owner": pa.concat_arrays([owners, pa.nulls(1, owners.type)]),
            "key": pa.array(np.append(keys.view(np.int64), 0)),
            "codes": pa.Array.from_buffers(
                pa.binary(), none + 1, [None, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(codes))]
            ),
            "read": pa.concat_arrays([pa.nulls(none, pa.int64()), pa.array([read], pa.int64())]),
            "misfits": pa.concat_arrays(
                [pa.nulls(none, pa.binary()), pa.array([misfits.astype("<i8").tobytes()], pa.binary())]
            ),
        }
        return pa.RecordBatch.from_pydict(columns)

    def blocks(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """After the exchange: all rows of some ids become encoded blocks."""
        return told_plainly(self._blocks(batches))

    def _blocks(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        layout = BlockLayout.of(Domain.from_json(self.encoding.domain))
        widths = [np.dtype(dtype).itemsize for dtype in layout.dtypes]
        found = [batch for batch in batches if batch.num_rows]
        if not found:
            return
        table = pa.Table.from_batches(found)
        told = table.filter(pa.compute.is_valid(table["read"]))
        table = table.filter(pa.compute.is_null(table["read"]))
        owners, keys = packed(table["owner"])[0], table["key"].to_numpy().view(np.uint64)
        codes = _bytes(table["codes"], sum(widths))
        stays = keep_smallest(owners, keys, self.limit)
        ends = np.cumsum(widths)
        misfits = np.zeros(len(layout.names), dtype=np.int64)
        for each in told["misfits"].to_pylist():
            misfits += np.frombuffer(each, dtype="<i8")
        read = int(np.sum(told["read"].to_numpy(), dtype=np.int64))
        for start in range(0, max(len(stays), 1), LARGEST_BLOCK):
            chosen = codes[stays[start : start + LARGEST_BLOCK]]
            parts = np.split(chosen, ends[:-1], axis=1)
            columns: EncodedColumns = {
                name: np.ascontiguousarray(part).view(dtype).ravel()
                for name, dtype, part in zip(layout.names, layout.dtypes, parts, strict=True)
            }
            yield layout.block(columns, read if not start else 0, misfits if not start else np.zeros_like(misfits))


def _rowwise(codes: EncodedColumns) -> Bytes:
    """The codes of a row beside each other, as bytes."""
    columns = [
        np.ascontiguousarray(each).view(np.uint8).reshape(len(each), each.dtype.itemsize) for each in codes.values()
    ]
    return np.hstack(columns)


def _bytes(array: pa.ChunkedArray, width: int) -> Bytes:
    """The codes of rows, `width` bytes each."""
    parts = [np.empty((0, width), dtype=np.uint8)]
    for chunk in array.chunks:
        _, offsets, data = chunk.buffers()
        if len(chunk):
            first = np.frombuffer(offsets, dtype=np.int32)[chunk.offset]
            parts.append(np.frombuffer(data, np.uint8, len(chunk) * width, first).reshape(-1, width))
    return np.concatenate(parts)
