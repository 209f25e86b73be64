"""Adding up on the cluster what its tasks have counted: one vector of a job comes to the desk, not one of each task.

A vector travels in slices. Every slice of all tasks goes to one task, which adds as they come and holds no more than
its sums; where there are many slices, many tasks add. So what the desk receives, and what Spark's driver holds of it,
follows from the number of cells alone.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from core.base.arrays import IntArray
from core.table.spark.failures import told_plainly

SLICES = "slice int, counts binary"
"""What Spark is told."""
SLICE = 1 << 16
"""Cells: half a megabyte before it is packed."""


def sliced(vector: IntArray) -> pa.RecordBatch:
    """What a task gives of its counts."""
    return _lines({number: vector[start : start + SLICE] for number, start in enumerate(range(0, len(vector), SLICE))})


def added(vectors: Any) -> IntArray | None:
    """The sum of the vectors of all tasks of a job, which come in slices; None where there was no task."""
    return joined((line[0], line[1]) for line in vectors.repartition("slice").mapInArrow(sums, SLICES).collect())


def sums(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Each slice once, with what all tasks have counted in it."""
    return told_plainly(_sums(batches))


def _sums(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    found: dict[int, IntArray] = {}
    for batch in batches:
        for number, content in zip(batch.column("slice").to_pylist(), batch.column("counts"), strict=True):
            counts = _unpacked(content.as_py())
            found[number] = found[number] + counts if number in found else counts
    if found:
        yield _lines(found)


def joined(slices: Iterable[tuple[int, bytes]]) -> IntArray | None:
    """The vector, in whatever order its slices come."""
    found = dict(slices)
    return np.concatenate([_unpacked(found[number]) for number in sorted(found)]) if found else None


def _lines(slices: Mapping[int, IntArray]) -> pa.RecordBatch:
    # Counts of few rows are mostly zeros.
    packed = [zlib.compress(counts.astype("<i8").tobytes(), 1) for counts in slices.values()]
    schema = pa.schema([("slice", pa.int32()), ("counts", pa.binary())])
    return pa.RecordBatch.from_pydict({"slice": list(slices), "counts": packed}, schema=schema)


def _unpacked(content: bytes) -> IntArray:
    return np.frombuffer(zlib.decompress(content), dtype="<i8").astype(np.int64)
