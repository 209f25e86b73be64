"""How encoded rows travel between executors: many of them in one line, by a number that follows from their id.

Spark takes longer to hand a line to Python and back, to hash it and to write it, than numpy to encode a row; so what it
moves is a few thousand lines of bytes for a million rows.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from core.base.arrays import IntArray
from core.table.formats.column_encoding import packed

BUNDLE = "part int, owners binary, lengths binary, keys binary, codes binary, read long, misfits binary"
"""What Spark is told. All rows of an id have the same part; texts have lengths, whole numbers have none."""
_BITS = 12
PARTS = 1 << _BITS
"""Several for each of the tasks that Spark makes of an exchange, two hundred by default, so that these get about the
same."""
_SPREAD = np.uint64(0x9E37_79B9_7F4A_7C15)
"""2^64 over the golden ratio: a multiple of it has leading bits that differ for numbers that follow each other."""
Bytes = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class OwnedRows:
    """Encoded rows with their ids and keys, and what was read to find them."""

    owners: pa.Array = field(repr=False)
    """Whole numbers or texts; null where a row has no id."""
    keys: NDArray[np.uint64] = field(repr=False)
    codes: Bytes = field(repr=False)
    """A line for each row."""
    read: int
    misfits: IntArray = field(repr=False)

    @property
    def nbytes(self) -> int:
        return int(self.owners.nbytes + self.keys.nbytes + self.codes.nbytes)

    def take(self, rows: NDArray[np.intp]) -> OwnedRows:
        owners = self.owners.take(pa.array(rows))
        return OwnedRows(owners, self.keys[rows], self.codes[rows], self.read, self.misfits)


def joined(parts: Sequence[OwnedRows]) -> OwnedRows:
    """All of these rows."""
    return OwnedRows(
        pa.concat_arrays([each.owners for each in parts]),
        np.concatenate([each.keys for each in parts]),
        np.concatenate([each.codes for each in parts]),
        sum(each.read for each in parts),
        np.sum([each.misfits for each in parts], axis=0, dtype=np.int64),
    )


def bundled(rows: OwnedRows) -> pa.RecordBatch:
    """Rows that all have an id, as they travel; the first line tells what was read, also where no row stayed."""
    parts = _parts(rows.owners)
    order = np.argsort(parts, kind="stable")
    rows = rows.take(order)
    found, starts = np.unique(parts[order], return_index=True)
    if not len(found):
        found, starts = np.zeros(1, dtype=np.int16), np.zeros(1, dtype=np.intp)
    ends = np.append(starts, len(order)).astype(np.int64)
    owners, lengths, bounds = _as_bytes(rows.owners)
    silent = len(found) - 1
    columns = {
        "part": pa.array(found.astype(np.int32)),
        "owners": _lines(owners, bounds[ends]),
        "lengths": _lines(lengths.view(np.uint8), ends * (4 if len(lengths) else 0)),
        "keys": _lines(rows.keys.view(np.uint8), ends * 8),
        "codes": _lines(np.ascontiguousarray(rows.codes).ravel(), ends * rows.codes.shape[1]),
        "read": pa.array([rows.read, *[0] * silent], pa.int64()),
        "misfits": pa.array([rows.misfits.astype("<i8").tobytes(), *[b""] * silent], pa.binary()),
    }
    return pa.RecordBatch.from_pydict(columns)


def unbundled(batches: Sequence[pa.RecordBatch], width: int, columns: int) -> OwnedRows:
    """The rows of all these lines, whose codes take `width` bytes each; misfits are told of so many columns."""
    table = pa.Table.from_batches(batches)

    def whole(name: str, dtype: str) -> NDArray[Any]:
        return np.frombuffer(b"".join(table.column(name).to_pylist()), dtype=dtype)

    keys, lengths, owners = whole("keys", "<u8"), whole("lengths", "<i4"), whole("owners", "u1")
    return OwnedRows(
        _as_owners(owners, lengths) if len(lengths) else pa.array(owners.view("<i8")),
        keys,
        whole("codes", "u1").reshape(len(keys), width),
        int(np.sum(table.column("read").to_numpy(), dtype=np.int64)),
        np.sum(whole("misfits", "<i8").reshape(-1, columns), axis=0, dtype=np.int64),
    )


def _parts(owners: pa.Array) -> NDArray[np.int16]:
    """The part of every id: the same in whatever task it is asked for."""
    if pa.types.is_integer(owners.type):
        spread = owners.to_numpy().view(np.uint64) * _SPREAD
        return (spread >> np.uint64(64 - _BITS)).astype(np.int16)
    where, texts = packed(owners)
    sums = [zlib.crc32(text) % PARTS for text in texts.cast(pa.binary()).to_pylist()]
    return np.array(sums, dtype=np.int16)[where]


def _as_bytes(owners: pa.Array) -> tuple[Bytes, NDArray[np.int32], IntArray]:
    """Ids as bytes, the lengths of texts, and where in the bytes the id of each row begins and the last one ends."""
    if pa.types.is_integer(owners.type):
        return owners.to_numpy().view(np.uint8), np.empty(0, dtype="<i4"), np.arange(len(owners) + 1) * 8
    _, offsets, content = owners.cast(pa.large_string()).buffers()
    bounds = np.frombuffer(offsets, dtype=np.int64)[: len(owners) + 1] if len(owners) else np.zeros(1, dtype=np.int64)
    held = np.frombuffer(content or b"", dtype=np.uint8)[: bounds[-1]]
    return held, np.diff(bounds).astype("<i4"), bounds


def _as_owners(content: Bytes, lengths: NDArray[np.int32]) -> pa.Array:
    offsets = np.append(0, np.cumsum(lengths, dtype=np.int64))
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(content)]
    return pa.Array.from_buffers(pa.large_string(), len(lengths), buffers)


def _lines(content: Bytes, ends: IntArray) -> pa.Array:
    """Bytes as lines that end where they are told to."""
    buffers = [None, pa.py_buffer(ends.astype(np.int32)), pa.py_buffer(content)]
    return pa.Array.from_buffers(pa.binary(), len(ends) - 1, buffers)
