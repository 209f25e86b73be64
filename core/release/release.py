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
from numpy.typing import NDArray

from core.base.arrays import Columns
from core.base.errors import printable
from core.base.wording import amount, plural
from core.mechanisms.measured.measured import Measured
from core.models.points import Points
from core.models.protocol import Model
from core.models.tables import lookup
from core.queries.halfspaces import Halfspaces
from core.queries.kit.protocol import QueryClass
from core.queries.statistics import Statistics
from core.release.catalogue import croissant
from core.release.certificate import Certificate
from core.release.lawful import Lawful
from core.release.listing import Listing, fitting, in_order, listed_table, measured_by, name_of, room_for
from core.release.notebook import notebook
from core.release.planes_table import CLASS, asked_planes, planes_table
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
PLANES = "halfspaces.csv"
ABOUT = """This folder was released with differential privacy.

synthetic.csv, synthetic.parquet  synthetic records in the original columns; no line belongs to a person
tables.csv, tables.parquet        the tables of counts that were asked for, and others that were released with them
tables.json, tables.npz           released tables as arrays, if any; more exact than the records
statistics.csv                    means, sums and quantiles by group with intervals, if any were asked for
halfspaces.csv                    rows beside planes, by the mechanism's own medians and by the records, if it has both
schema.json                       the public schema: bounds, bins and categories
certificate.json                  what is promised, and how it was made
report.html                       the same for people, with figures
croissant.json                    metadata for data catalogues (JSON-LD)
notebook.ipynb                    a notebook that opens these files
reproduce.py                      a script that makes such a release again, for whoever holds the table

The lists of tables have one line for each count: the name of the table, a column for every variable (blank where the
table does not use it), the count, its standard error and its source. A 'measured' table was counted with noise of that
standard error in each cell, and then made to agree with the others; an 'inferred' one follows from what was measured.
Both are blank where the mechanism does not say, the error also where it is not one number for the whole table.

In the CSV files an apostrophe stands where a spreadsheet could begin a formula: at the start of a text, and inside it
after a semicolon, tab or line break. The Parquet files have the exact text.
"""


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
    ) -> Release:
        """Draw the records once, round the tables once, and seal everything in a ZIP.

        `layout` gives the columns in the order of the source; their types are those of the schema. `measure` compares
        what is about to be sealed with the private table; the figures enter the certificate. `announced` are the tables
        that the plan asks for: all of them are listed, and those for which there is no room are named.
        """
        domain, lawful = model.domain, Lawful.of(model.domain)
        codes = lawful.records(model.sample(certificate.synthetic_rows, generator), generator)
        # Models lay records out in the order of their cells; nobody expects a sorted table.
        shuffled = generator.permutation(codes, axis=0)
        frame = lawful.decoded(shuffled, generator)[list(layout)]
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
        listing = _listing(model, published, asked)
        statistics = statistics_table(certificate, domain, published)
        planes = planes_table(model, certificate, published)
        return cls(
            zipped(
                {
                    "README.txt": _about(certificate, domain).encode(),
                    "certificate.json": certificate.write().encode(),
                    "schema.json": domain.to_json().encode(),
                    **files,
                    "report.html": report(certificate, domain, published.marginal, list(tables)).encode(),
                    "croissant.json": croissant(certificate, domain, files).encode(),
                    "reproduce.py": script(certificate, domain).encode(),
                    "notebook.ipynb": notebook(certificate, domain, bool(listing.tables)).encode(),
                    **({} if statistics is None else {"statistics.csv": to_csv(statistics)}),
                    **({} if planes is None else {PLANES: to_csv(planes)}),
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

    def planes(self, asked: Halfspaces) -> pd.DataFrame | None:
        """Rows on one side of each plane by the mechanism's own medians and by the records, where it has medians."""
        places = [place for place, query in asked_planes(self.certificate).items() if query == asked]
        if PLANES not in self.files or not places:
            return None
        every = pd.read_csv(io.BytesIO(self._read(PLANES)))
        return every[every[CLASS] == places[0] + 1].drop(columns=CLASS).reset_index(drop=True)

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


def _listing(model: Model, published: Published, asked: Sequence[Columns]) -> Listing:
    """What was asked for, then what was released besides as far as there is room; counts as the release answers."""
    domain, measured, named = published.domain, measured_by(model), set(asked)
    left = room_for(domain) - sum(domain.cells(columns) for columns in asked)
    more = fitting((columns for columns in in_order(published.tables, domain) if columns not in named), domain, left)
    counts = ((columns, _rounded(published.marginal(columns))) for columns in (*asked, *more))
    return Listing(domain, [listed_table(columns, table, measured) for columns, table in counts])


def _about(certificate: Certificate, domain: Domain) -> str:
    """The text beside the files; it names every table that was asked for and is not listed."""
    if not certificate.unlisted:
        return ABOUT
    lines = [
        f"  {printable(name_of(columns), 1_000)} ({plural(domain.cells(columns), 'cell')})"
        for columns in certificate.unlisted
    ]
    return (
        f"{ABOUT}\nNot in the lists of tables, which end at {amount(room_for(domain))} counts over this schema; the "
        "records answer in their\nplace, or a larger table in tables.npz:\n" + "\n".join(lines) + "\n"
    )


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
