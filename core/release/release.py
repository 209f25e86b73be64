"""The public artefact: synthetic records, released tables and the certificate, as one ZIP that never changes.

Everything in here is public. Nothing exact and no path enters it: the certificate is built from the plan, the
schema and the released model alone, and the records and tables come from the model that the mechanism returned.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import ArrayLike, NDArray

from core.base.arrays import Columns
from core.base.errors import Refused
from core.mechanisms.measured.measured import Measured
from core.models.points import Points
from core.models.protocol import Model
from core.models.tables import lookup
from core.queries.kit.protocol import QueryClass
from core.queries.statistics import Statistics
from core.release.about import about
from core.release.catalogue import croissant
from core.release.certificate import Certificate
from core.release.copies.combining import Combined, combine
from core.release.copies.redrawing import COPY, ORIGIN, Again, combining_script, draw_copies, written_records
from core.release.lawful import Lawful
from core.release.listing import Listing, fitting, in_order, listed_table, room_for
from core.release.notebook import notebook
from core.release.published import Published
from core.release.reports.content import caution, content
from core.release.reports.datacite import datacite
from core.release.reports.imprint import Imprint
from core.release.reports.page import report
from core.release.reports.pdf import write_pdf
from core.release.reports.registry_record import registry_record
from core.release.script import script
from core.release.spreadsheet import to_csv
from core.release.statistics_table import statistics_frame, statistics_table
from core.schema.domain import Domain

MOST_TABLE_CELLS = 2**22
"""Released tables beyond this many counts stay out of the artefact; the records answer in their place."""


@dataclass(frozen=True, eq=False)
class Release:
    """A finished release, read from its stored bytes; `zip()` returns exactly those bytes."""

    stored: bytes

    @classmethod
    def pack(
        cls,
        model: Model,
        certificate: Certificate,
        generator: np.random.Generator,
        layout: Sequence[str],
        measure: Callable[[Published], Measured] | None = None,
        announced: Sequence[Columns] = (),
        again: Again | None = None,
        copies: int = 0,
    ) -> Release:
        """Draw the records once, round the tables once, and seal everything in a ZIP.

        `layout` gives the columns in the order of the source; their types are those of the schema. `measure` compares
        what is about to be sealed with the private table; the figures enter the certificate. `announced` are the tables
        that the plan asks for: all of them are listed, and those for which there is no room are named. `again` makes
        the model of a copy.
        """
        domain, lawful, rows = model.domain, Lawful.of(model.domain), certificate.synthetic_rows
        codes, frame = written_records(model, rows, lawful, layout, generator)
        asked = fitting(announced, domain, room_for(domain))
        released = lawful.tables(_released(model, asked), codes)
        tables = {columns: _rounded(table) for columns, table in released.items()}
        certificate = certificate.without_tables(sorted(set(announced) - set(asked), key=announced.index))
        files = {
            "synthetic.csv": to_csv(frame),
            "synthetic.parquet": _parquet(frame, domain),
        }
        published = Published.of(domain, tables, codes)
        if measure is not None:
            certificate = certificate.with_measured(measure(published))
        drawn = _copies(draw_copies(again, copies, rows, lawful, layout, generator), domain) if again else {}
        certificate = certificate.with_copies(len(drawn) // 4)
        listing = _listing(model, published, asked, float(certificate.expected_error["mean"]))
        certificate = certificate.with_doubtful(listing.doubtful(float(published.marginal(()).sum())))
        statistics = statistics_table(certificate, domain, published)
        return cls(
            zipped(
                {
                    "README.txt": about(certificate, domain).encode(),
                    "certificate.json": certificate.write().encode(),
                    "schema.json": domain.to_json().encode(),
                    **files,
                    "report.html": report(certificate, domain, published.marginal, list(tables)).encode(),
                    "croissant.json": croissant(certificate, domain, files).encode(),
                    "reproduce.py": script(certificate, domain).encode(),
                    "notebook.ipynb": notebook(certificate, domain, bool(listing.tables)).encode(),
                    **({} if statistics is None else {"statistics.csv": to_csv(statistics)}),
                    **drawn,
                    **({"combine.py": combining_script().encode()} if drawn else {}),
                    "tables.csv": listing.csv(),
                    "tables.parquet": listing.parquet(),
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

    def statistics(self, asked: Statistics) -> pd.DataFrame:
        """Numbers, sums, means and quantiles of a column by group, with intervals where they were asked for."""
        return statistics_frame(asked, self.certificate, self.domain, self.published)

    def tables_csv(self) -> bytes:
        return self._read("tables.csv")

    def tables_parquet(self) -> bytes:
        return self._read("tables.parquet")

    @cached_property
    def files(self) -> tuple[str, ...]:
        """The names of its files; releases of older versions have fewer."""
        with zipfile.ZipFile(io.BytesIO(self.stored)) as archive:
            return tuple(archive.namelist())

    def report(self, imprint: Imprint | None = None) -> bytes:
        """The report as a page: as it was sealed, or with who publishes it."""
        if imprint is None:
            return self._read("report.html")
        return report(self.certificate, self.domain, self.marginal, list(self.tables), imprint).encode()

    def pdf(self, imprint: Imprint | None = None) -> bytes:
        """The same report, to be printed."""
        said = imprint or Imprint()
        blocks = content(self.certificate, self.domain, self.marginal, list(self.tables), said)
        return write_pdf(said.heading, blocks, self.certificate.created)

    def datacite(self, imprint: Imprint) -> bytes:
        """Metadata for a repository that gives out a DOI."""
        return datacite(self.certificate, self.domain, imprint).encode()

    def registry_record(self, imprint: Imprint) -> bytes:
        """A draft for the registry of deployments of differential privacy."""
        return registry_record(self.certificate, self.domain, imprint).encode()

    def croissant(self) -> bytes:
        return self._read("croissant.json")

    def script(self) -> bytes:
        return self._read("reproduce.py")

    def notebook(self) -> bytes:
        """A notebook that opens the files."""
        return self._read("notebook.ipynb")

    @cached_property
    def certificate(self) -> Certificate:
        return Certificate.read(self._read("certificate.json"))

    @cached_property
    def domain(self) -> Domain:
        return Domain.from_json(self._read("schema.json").decode())

    def records(self) -> pd.DataFrame:
        """Synthetic records in the original columns and the types that the schema declares."""
        return pd.read_parquet(io.BytesIO(self.parquet()))

    def copies(self) -> list[pd.DataFrame]:
        """What the mechanism made of each origin, with other noise; none where the plan asked for none."""
        return self._several(COPY)

    def origins(self) -> list[pd.DataFrame]:
        """Tables that the private one may be, by what is released: one for each copy."""
        return self._several(ORIGIN)

    def _several(self, stem: str) -> list[pd.DataFrame]:
        numbers = range(self.certificate.copies or 0)
        return [pd.read_parquet(io.BytesIO(self._read(f"{_numbered(stem, place)}.parquet"))) for place in numbers]

    def estimate(
        self,
        statistic: Callable[[pd.DataFrame], ArrayLike],
        *,
        variance: Callable[[pd.DataFrame], ArrayLike] | None = None,
        level: float = 0.95,
    ) -> Combined:
        """Any number or array of numbers that records give, with an interval that accounts for the noise.

        With `variance`, the usual one of the statistic, the interval is about the people whom the table is a sample of.
        """
        if not self.certificate.copies:
            raise Refused("This release has no copies to make an interval from; plan one with copies, for example 10.")
        records, frames = self.records(), (self.copies(), self.origins())
        copies, origins = ([np.asarray(statistic(each), dtype=np.float64) for each in several] for several in frames)
        within = 0.0 if variance is None else variance(records)
        return combine(statistic(records), np.stack(copies), np.stack(origins), variance=within, level=level)

    @cached_property
    def tables(self) -> Mapping[Columns, NDArray[np.float64]]:
        """Released tables of counts by their columns."""
        names = [tuple(columns) for columns in json.loads(self._read("tables.json"))]
        with np.load(io.BytesIO(self._read("tables.npz")), allow_pickle=False) as arrays:
            return {columns: arrays[f"table{place}"] for place, columns in enumerate(names)}

    def marginal(self, columns: Sequence[str]) -> NDArray[np.float64]:
        """Estimated counts: from the smallest released table that holds the columns, otherwise from the records."""
        return self.published.marginal(columns)

    def answers(self, queries: QueryClass | Iterable[QueryClass]) -> NDArray[np.float64]:
        """All answers of the query classes, one after the other, as shares of the table."""
        classes = list(queries) if isinstance(queries, Iterable) else [queries]
        return np.concatenate([query.answers(self) for query in classes]) if classes else np.zeros(0)

    @property
    def points(self) -> Points:
        """The synthetic records as codes; together they stand for as many rows as the released tables count."""
        return self.published.points

    @cached_property
    def published(self) -> Published:
        frame = self.records()
        codes = [self.domain[name].encode(frame[name])[0] for name in self.domain.names]
        return Published.of(self.domain, self.tables, np.stack(codes, axis=1).astype(np.int64))

    def caution(self) -> str | None:
        """One sentence where the noise is large for so small a table; None where it is not."""
        return caution(self.certificate, self.domain, self.marginal)

    @property
    def measured(self) -> Measured | None:
        """Errors that were measured against the table, with noise; None where nothing was spent on that."""
        return self.certificate.measured

    def _read(self, member: str) -> bytes:
        with zipfile.ZipFile(io.BytesIO(self.stored)) as archive:
            return archive.read(member)


def _released(model: Model, asked: Sequence[Columns]) -> dict[Columns, NDArray[np.float64]]:
    """The tables of a model, and those that were asked for and that none of them holds.

    A model that publishes no table means its records to answer.
    """
    own = model.tables()
    tables = {columns: own[columns] for columns in fitting(own, model.domain, MOST_TABLE_CELLS)}
    missing = [columns for columns in asked if own and lookup(tables, columns) is None]
    return tables | {columns: model.marginal(columns) for columns in missing}


def _listing(model: Model, published: Published, asked: Sequence[Columns], usual: float) -> Listing:
    """What was asked for, then what was released besides as far as there is room; counts as the release answers.

    `usual` is the error that was told for the questions of the plan.
    """
    domain, named = published.domain, set(asked)
    left = room_for(domain) - sum(domain.cells(columns) for columns in asked)
    more = fitting((columns for columns in in_order(published.tables, domain) if columns not in named), domain, left)
    counts = ((columns, _rounded(published.marginal(columns))) for columns in (*asked, *more))
    return Listing(domain, [listed_table(columns, table, model, usual) for columns, table in counts])


def _copies(frames: Iterable[tuple[pd.DataFrame, pd.DataFrame]], domain: Domain) -> dict[str, bytes]:
    """Two files for each origin and for each copy."""
    files: dict[str, bytes] = {}
    for place, both in enumerate(frames):
        for stem, frame in zip((ORIGIN, COPY), both, strict=True):
            name = _numbered(stem, place)
            files |= {f"{name}.csv": to_csv(frame), f"{name}.parquet": _parquet(frame, domain)}
    return files


def _numbered(stem: str, place: int) -> str:
    return f"{stem}-{place + 1:02}"


def _rounded(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Counts to a thousandth of a row, or of the mean count where that is below one: many small counts add up."""
    mean = float(table.mean()) if table.size else 1.0
    return np.round(table, 3 + max(0, math.ceil(-math.log10(mean)) if mean > 0 else 0))


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
