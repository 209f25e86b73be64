"""The public artefact: synthetic records, released tables and the certificate, as one ZIP that never changes.

Everything in here is public. Nothing exact and no path enters it: the certificate is built from the plan and the
schema alone, and the records and tables come from the model that the mechanism returned.
"""

from __future__ import annotations

import csv
import io
import json
import math
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from core.base.arrays import Columns
from core.models.points import Points
from core.models.protocol import Model
from core.models.tables import lookup
from core.queries.kit.protocol import QueryClass
from core.release.catalogue import croissant
from core.release.certificate import Certificate
from core.release.report import report
from core.release.script import script
from core.schema.domain import Domain

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "'")
"""Text that a spreadsheet may run as a formula; the apostrophe is here so that undoing is unambiguous."""
MOST_TABLE_CELLS = 2**22
"""Released tables beyond this many counts stay out of the artefact; the records answer in their place."""
MOST_LISTED_CELLS = 300_000
"""Counts listed in words in tables.csv; tables.npz has them all."""
ABOUT = """This folder was released with differential privacy.

synthetic.csv, synthetic.parquet  synthetic records in the original columns; no line belongs to a person
tables.csv, tables.npz            released tables of counts, if any; more exact than the records
schema.json                       the public schema: bounds, bins and categories
certificate.json                  what is promised, and how it was made
report.html                       the same for people, with figures
croissant.json                    metadata for data catalogues (JSON-LD)
reproduce.py                      a script that makes such a release again, for whoever holds the table

In synthetic.csv a text that could be read as a formula starts with an apostrophe; the Parquet file has the plain text.
"""


@dataclass(frozen=True, eq=False)
class Release:
    """A finished release, read from its stored bytes; `zip()` returns exactly those bytes."""

    stored: bytes

    @classmethod
    def pack(
        cls, model: Model, certificate: Certificate, generator: np.random.Generator, layout: Sequence[str]
    ) -> Release:
        """Draw the records once, round the tables once, and seal everything in a ZIP.

        `layout` gives the columns in the order of the source; their types are those of the schema.
        """
        domain = model.domain
        codes = model.sample(certificate.synthetic_rows, generator)
        # Models lay records out in the order of their cells; nobody expects a sorted table.
        frame = domain.decode(generator.permutation(codes, axis=0), generator)[list(layout)]
        tables = _fitting(model.tables(), MOST_TABLE_CELLS)
        files = {
            "synthetic.csv": to_csv(frame),
            "synthetic.parquet": _parquet(frame, domain),
        }
        drawn = Points(domain, codes, np.ones(len(codes)))

        def marginal(columns: Sequence[str]) -> NDArray[np.float64]:
            found = lookup(tables, columns)
            return drawn.marginal(columns) if found is None else found

        return cls(
            _zipped(
                {
                    "README.txt": ABOUT.encode(),
                    "certificate.json": certificate.write().encode(),
                    "schema.json": domain.to_json().encode(),
                    **files,
                    "report.html": report(certificate, domain, marginal, list(tables)).encode(),
                    "croissant.json": croissant(certificate, domain, files).encode(),
                    "reproduce.py": script(certificate, domain).encode(),
                    "tables.csv": to_csv(_long(domain, _fitting(tables, MOST_LISTED_CELLS))),
                    "tables.json": json.dumps([list(columns) for columns in tables]).encode(),
                    "tables.npz": _npz(tables.values()),
                }
            )
        )

    def zip(self) -> bytes:
        return self.stored

    def csv(self) -> bytes:
        return self._read("synthetic.csv")

    def parquet(self) -> bytes:
        return self._read("synthetic.parquet")

    def tables_csv(self) -> bytes:
        return self._read("tables.csv")

    def report(self) -> bytes:
        return self._read("report.html")

    def croissant(self) -> bytes:
        return self._read("croissant.json")

    def script(self) -> bytes:
        return self._read("reproduce.py")

    @cached_property
    def certificate(self) -> Certificate:
        return Certificate.read(self._read("certificate.json"))

    @cached_property
    def domain(self) -> Domain:
        return Domain.from_json(self._read("schema.json").decode())

    def records(self) -> pd.DataFrame:
        """Synthetic records in the original columns and the types that the schema declares."""
        return pd.read_parquet(io.BytesIO(self.parquet()))

    @cached_property
    def tables(self) -> Mapping[Columns, NDArray[np.float64]]:
        """Released tables of counts by their columns."""
        names = [tuple(columns) for columns in json.loads(self._read("tables.json"))]
        with np.load(io.BytesIO(self._read("tables.npz")), allow_pickle=False) as arrays:
            return {columns: arrays[f"table{place}"] for place, columns in enumerate(names)}

    def marginal(self, columns: Sequence[str]) -> NDArray[np.float64]:
        """Estimated counts: from the smallest released table that holds the columns, otherwise from the records."""
        found = lookup(self.tables, columns)
        return self.points.marginal(columns) if found is None else found

    def answers(self, queries: QueryClass | Iterable[QueryClass]) -> NDArray[np.float64]:
        """All answers of the query classes, one after the other, as shares of the table."""
        classes = list(queries) if isinstance(queries, Iterable) else [queries]
        return np.concatenate([query.answers(self) for query in classes]) if classes else np.zeros(0)

    @cached_property
    def points(self) -> Points:
        """The synthetic records as codes; together they stand for as many rows as the released tables count."""
        frame = self.records()
        codes = [self.domain[name].encode(frame[name])[0] for name in self.domain.names]
        counted = lookup(self.tables, ())
        each = 1.0 if counted is None else float(counted) / len(frame)
        return Points(self.domain, np.stack(codes, axis=1).astype(np.int64), np.full(len(frame), each))

    def _read(self, member: str) -> bytes:
        with zipfile.ZipFile(io.BytesIO(self.stored)) as archive:
            return archive.read(member)


def to_csv(frame: pd.DataFrame) -> bytes:
    """CSV in which no text can start a formula when a spreadsheet opens it."""
    safe = frame.copy()
    for name in safe.columns:
        column = safe[name]
        if pd.api.types.is_numeric_dtype(column) or pd.api.types.is_datetime64_any_dtype(column):
            continue
        # Few distinct texts stand in many rows, and most columns need no change at all.
        if any(neutral(value) is not value for value in column.unique()):
            safe[name] = column.map(neutral, na_action="ignore")
    safe.columns = pd.Index([neutral(str(name)) for name in safe.columns])
    # Before Python 3.13 a carriage return alone is not quoted, and what follows it would start a cell of its own.
    quoting: Literal[0, 2] = csv.QUOTE_NONNUMERIC if any("\r" in text for text in _texts(safe)) else csv.QUOTE_MINIMAL
    return safe.to_csv(index=False, lineterminator="\n", quoting=quoting).encode()


def _texts(frame: pd.DataFrame) -> Iterator[str]:
    """Every different text of a table, its names included."""
    yield from (str(name) for name in frame.columns)
    for _, column in frame.select_dtypes(exclude=["number", "bool", "datetime"]).items():
        yield from (str(value) for value in column.unique())


def neutral(value: object) -> object:
    """Text with an apostrophe in front if it could be read as a formula; `plain` undoes it."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_STARTS) else value


def plain(value: object) -> object:
    return value[1:] if isinstance(value, str) and value.startswith("'") else value


def _fitting(tables: Mapping[Columns, NDArray[np.float64]], room: int) -> dict[Columns, NDArray[np.float64]]:
    """The smallest tables, as many as hold at most `room` counts together, each rounded by `_rounded`."""
    smallest = sorted(tables, key=lambda columns: tables[columns].size)
    filled = np.cumsum([tables[columns].size for columns in smallest])
    kept = {columns for columns, used in zip(smallest, filled, strict=True) if used <= room}
    return {columns: _rounded(tables[columns]) for columns in tables if columns in kept}


def _rounded(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Counts to a thousandth of a row, or of the mean count where that is below one: many small counts add up."""
    mean = float(table.mean()) if table.size else 1.0
    return np.round(table, 3 + max(0, math.ceil(-math.log10(mean)) if mean > 0 else 0))


def _long(domain: Domain, tables: Mapping[Columns, NDArray[np.float64]]) -> pd.DataFrame:
    """Released tables in one long sheet: table, cell in plain words, count."""
    sheets = []
    for columns, table in tables.items():
        labels = [[f"{name} = {domain[name].label(code)}" for code in range(domain[name].size)] for name in columns]
        cells = ["; ".join(parts) for parts in product(*labels)]
        sheets.append(pd.DataFrame({"table": " x ".join(columns), "cell": cells, "count": table.ravel()}))
    return pd.concat(sheets, ignore_index=True) if sheets else pd.DataFrame({"table": [], "cell": [], "count": []})


def _parquet(frame: pd.DataFrame, domain: Domain) -> bytes:
    table = pa.Table.from_pandas(frame, preserve_index=False)
    types = pa.schema([(name, pa.type_for_alias(domain[name].stored)) for name in frame.columns])
    buffer = io.BytesIO()
    pq.write_table(table.replace_schema_metadata(None).cast(types), buffer)
    return buffer.getvalue()


def _npz(tables: Iterable[NDArray[np.float64]]) -> bytes:
    buffer = io.BytesIO()
    arrays: dict[str, Any] = {f"table{place}": table for place, table in enumerate(tables)}
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def _zipped(members: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name, content in members.items():
            # A fixed date: the moment of packing belongs in the certificate, not in every member.
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
