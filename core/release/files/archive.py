"""How files of a release are written: one ZIP whose bytes follow from its members, Parquet in the schema's types."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from core.schema.domain import Domain


def zipped(members: Mapping[str, bytes | Iterable[bytes]]) -> bytes:
    """Files, whole or in parts, in one ZIP whose bytes follow from theirs."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            # A fixed date: the moment of packing belongs in the certificate, not in every member.
            member = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            member.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(member, "w") as opened:
                for part in [content] if isinstance(content, bytes) else content:
                    opened.write(part)
    return buffer.getvalue()


def parquet(frame: pd.DataFrame, domain: Domain) -> bytes:
    """Records whose stored types are those of the schema, whatever they were in the source."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    types = pa.schema([(name, pa.type_for_alias(domain[name].stored)) for name in frame.columns])
    buffer = io.BytesIO()
    pq.write_table(table.replace_schema_metadata(None).cast(types), buffer)
    return buffer.getvalue()


def npz(tables: Iterable[NDArray[np.float64]]) -> bytes:
    """Tables of counts by their places."""
    buffer = io.BytesIO()
    arrays: dict[str, Any] = {f"table{place}": table for place, table in enumerate(tables)}
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()
