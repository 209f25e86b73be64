"""Encoding rows on the executors, by the code that encodes a local file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from core.base.arrays import IntArray
from core.schema.domain import Domain
from core.table.column_store import EncodedColumns
from core.table.formats.arrow_rows import ArrowRows, arrow_rows
from core.table.spark.encoded_blocks import BlockLayout
from core.table.spark.failures import told_plainly


@dataclass(frozen=True)
class RowEncoding:
    """What a task needs to encode rows: the public schema, and which columns it is handed.

    **Privacy** The code of a row follows from the schema and that row alone, as `row_source.Rows` demands.
    """

    domain: str = field(repr=False)
    """As JSON."""
    names: tuple[str, ...]
    """The columns that come, in order; others may come after them."""

    def blocks(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Encoded blocks, for tables in which every row counts."""
        return told_plainly(self._blocks(batches))

    def _blocks(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        domain = Domain.from_json(self.domain)
        layout = BlockLayout.of(domain)
        for batch in batches:
            if batch.num_rows:
                with arrow_rows(self.table(batch)) as rows:
                    codes, misfits = encoded(rows, domain)
                yield layout.block(codes, batch.num_rows, misfits)

    def table(self, batch: pa.RecordBatch) -> pa.Table:
        """The columns of the schema, and the id, under their own names."""
        return pa.Table.from_batches([batch]).select(range(len(self.names))).rename_columns(list(self.names))


def encoded(rows: ArrowRows, domain: Domain) -> tuple[EncodedColumns, IntArray]:
    """The codes of all rows, and how many misfits each column has."""
    rows.take([column.name for column in rows.columns])
    parts: dict[str, list] = {name: [] for name in domain.names}
    misfits = np.zeros(len(domain), dtype=np.int64)
    for piece in rows.pieces(tuple(domain)):
        for place, attribute in enumerate(domain):
            codes, changed = piece.encode(attribute)
            parts[attribute.name].append(codes)
            misfits[place] += changed
    return {name: np.concatenate(found) for name, found in parts.items()}, misfits
