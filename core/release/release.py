"""A finished release: records, tables, certificate and reports, read from one ZIP that never changes."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from core.base.arrays import Columns
from core.base.errors import Refused
from core.mechanisms.measured.measured import Measured
from core.models.points import Points
from core.queries.halfspaces import Halfspaces
from core.queries.kit.protocol import QueryClass
from core.queries.statistics import Statistics
from core.release.certificate import Certificate
from core.release.copies.combining import Combined, combine
from core.release.copies.redrawing import COPY, ORIGIN
from core.release.files.archive import zipped
from core.release.files.halfspaces_table import CLASS, asked_planes
from core.release.files.nonlinear_table import read_own_answers
from core.release.files.statistics_table import statistics_frame
from core.release.published import Published
from core.release.reports.content import caution, content
from core.release.reports.croissant_record import croissant_record
from core.release.reports.datacite import datacite
from core.release.reports.imprint import Imprint
from core.release.reports.page import report
from core.release.reports.pdf import write_pdf
from core.release.reports.registry_record import registry_record
from core.schema.domain import Domain

PLANES, NONLINEAR = "halfspaces.csv", "nonlinear.csv"


@dataclass(frozen=True, eq=False)
class Release:
    """A finished release, read from its stored bytes; `zip()` returns exactly those bytes."""

    stored: bytes

    def zip(self, imprint: Imprint | None = None) -> bytes:
        """All files: as they were sealed, or with who publishes the release where people and catalogues look for it."""
        if imprint is None:
            return self.stored
        named = {"report.html": self.report(imprint), "croissant.json": self.croissant(imprint)}
        if "README.txt" in self.files:
            head = [f"{imprint.title}\n"] * bool(imprint.title) + [f"{name}: {text}\n" for name, text in imprint.lines]
            named["README.txt"] = "".join([*head, "\n" * bool(head)]).encode() + self._read("README.txt")
        return zipped({name: named.get(name) or self._read(name) for name in self.files})

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

    def croissant(self, imprint: Imprint | None = None) -> bytes:
        """Metadata for catalogues of data sets: as they were sealed, or with who publishes the release."""
        sealed = self._read("croissant.json")
        return sealed if imprint is None else croissant_record(sealed, self.certificate, imprint).encode()

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
        return [pd.read_parquet(io.BytesIO(self._read(f"{numbered(stem, place)}.parquet"))) for place in numbers]

    def estimate(
        self,
        statistic: Callable[[pd.DataFrame], ArrayLike],
        *,
        variance: Callable[[pd.DataFrame], ArrayLike] | None = None,
        level: float = 0.95,
    ) -> Combined:
        """Any number or array of numbers that records give, with an interval, and in `limit` what that does not hold.

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

    def totals_for(self, query: QueryClass) -> NDArray[np.float64] | None:
        """What the mechanism itself says of a class that tables do not answer; None where they do."""
        return self.published.totals_for(query)

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
        own = read_own_answers(self.certificate, self._read(NONLINEAR)) if NONLINEAR in self.files else ()
        return Published.of(self.domain, self.tables, np.stack(codes, axis=1).astype(np.int64), own)

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


def numbered(stem: str, place: int) -> str:
    """The name of a file of which there are several."""
    return f"{stem}-{place + 1:02}"
