"""How encoded columns lie on the cluster: a row of Parquet holds the codes of many rows of the table, column by column.

Spark hands over such a block in one piece for each column, without looking at its cells; so counting costs what numpy
takes and next to nothing for getting there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from core.base.arrays import IntArray
from core.schema.domain import Domain
from core.table.column_store import EncodedColumns

TOGETHER = 1 << 20
"""Rows that are counted together: a pass over the cells of a table for each."""


@dataclass(frozen=True)
class BlockLayout:
    """The columns of a schema and how wide their codes are; small enough to be sent with every task."""

    names: tuple[str, ...]
    dtypes: tuple[str, ...]

    @classmethod
    def of(cls, domain: Domain) -> BlockLayout:
        return cls(domain.names, tuple(attribute.dtype.str for attribute in domain))

    @property
    def schema(self) -> str:
        """What Spark is told: rows that are kept and that were read, misfits, and the codes."""
        return ", ".join(
            ["kept long", "read long", "misfits binary", *(f"{self.field(name)} binary" for name in self.names)]
        )

    def field(self, name: str) -> str:
        return f"c{self.names.index(name)}"

    def block(self, codes: EncodedColumns, read: int, misfits: IntArray) -> pa.RecordBatch:
        kept = len(codes[self.names[0]])
        packed = {self.field(name): [codes[name].astype(dtype).tobytes()] for name, dtype in self._typed()}
        told = {"kept": [kept], "read": [read], "misfits": [misfits.astype("<i8").tobytes()]}
        return pa.RecordBatch.from_pydict({**told, **packed}, schema=self._arrow())

    def columns(self, batches: Iterator[pa.RecordBatch], names: Sequence[str]) -> Iterator[tuple[int, EncodedColumns]]:
        """Many rows at a time: their number, and the codes of these columns."""
        waiting: list[dict[str, Any]] = []
        rows = 0
        for batch in batches:
            for place, kept in enumerate(batch.column("kept").to_pylist()):
                waiting.append({name: batch.column(self.field(name))[place] for name in names})
                rows += kept
                if rows >= TOGETHER:
                    yield rows, self._joined(waiting, names)
                    waiting, rows = [], 0
        if rows:
            yield rows, self._joined(waiting, names)

    def _joined(self, blocks: list[dict[str, Any]], names: Sequence[str]) -> EncodedColumns:
        dtypes = dict(self._typed())
        return {
            name: np.concatenate([np.frombuffer(block[name].as_buffer(), dtype=dtypes[name]) for block in blocks])
            for name in names
        }

    def _typed(self) -> Iterator[tuple[str, str]]:
        return zip(self.names, self.dtypes, strict=True)

    def _arrow(self) -> pa.Schema:
        told = [("kept", pa.int64()), ("read", pa.int64()), ("misfits", pa.binary())]
        return pa.schema([*told, *((self.field(name), pa.binary()) for name in self.names)])
