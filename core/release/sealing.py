"""What was drawn, sealed with its certificate in a ZIP that never changes.

Everything in here is public. Nothing exact and no path enters it: the certificate is built from the plan, the
schema and the released model alone, and the records and tables come from the model that the mechanism returned.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

import pandas as pd

from core.base.arrays import Columns
from core.models.protocol import Model
from core.release.certificate import Certificate
from core.release.copies.redrawing import COPY, ORIGIN, combining_script
from core.release.drawn import Drawn, rounded
from core.release.files.about import about
from core.release.files.archive import npz, parquet, zipped
from core.release.files.catalogue import croissant
from core.release.files.halfspaces_table import halfspaces_table
from core.release.files.nonlinear_table import nonlinear_table
from core.release.files.notebook import notebook
from core.release.files.script import script
from core.release.files.spreadsheet import to_csv
from core.release.files.statistics_table import statistics_table
from core.release.listing import Listing, fitting, in_order, listed_table, room_for
from core.release.published import Published
from core.release.release import NONLINEAR, PLANES, Release, numbered
from core.release.reports.page import report
from core.schema.domain import Domain

Copies = Iterable[tuple[pd.DataFrame, pd.DataFrame]]
"""Origins with their copies."""


def seal(drawn: Drawn, certificate: Certificate, copies: Copies = ()) -> Release:
    """Write every file once; the certificate gets what only the drawn release tells: tables left out or in doubt."""
    domain, published, tables = drawn.model.domain, drawn.published, drawn.published.tables
    more = _copied(copies, domain)
    listing = _listing(drawn.model, published, drawn.asked, float(certificate.expected_error["mean"]))
    certificate = (
        certificate.without_tables(list(drawn.left_out))
        .with_copies(len(more) // 4)
        .with_doubtful(listing.doubtful(float(published.marginal(()).sum())))
    )
    records = {"synthetic.csv": to_csv(drawn.records), "synthetic.parquet": parquet(drawn.records, domain)}
    statistics = statistics_table(certificate, domain, published)
    planes = halfspaces_table(drawn.model, certificate, published)
    nonlinear = nonlinear_table(certificate, published)
    members: dict[str, bytes | Iterable[bytes]] = {
        "README.txt": about(certificate, domain).encode(),
        "certificate.json": certificate.write().encode(),
        "schema.json": domain.to_json().encode(),
        **records,
        "report.html": report(certificate, domain, published.marginal, list(tables)).encode(),
        "croissant.json": croissant(certificate, domain, records).encode(),
        "reproduce.py": script(certificate, domain).encode(),
        "notebook.ipynb": notebook(certificate, domain, bool(listing.tables)).encode(),
        **({} if statistics is None else {"statistics.csv": to_csv(statistics)}),
        **({} if planes is None else {PLANES: to_csv(planes)}),
        **({} if nonlinear is None else {NONLINEAR: to_csv(nonlinear)}),
        **more,
        **({"combine.py": combining_script().encode()} if more else {}),
        "tables.csv": listing.csv(),
        "tables.parquet": listing.parquet(),
        "tables.json": json.dumps([list(columns) for columns in tables]).encode(),
        "tables.npz": npz(tables.values()),
    }
    return Release(zipped(members))


def _listing(model: Model, published: Published, asked: Sequence[Columns], usual: float) -> Listing:
    """What was asked for, then what was released besides as far as there is room; counts as the release answers.

    `usual` is the error that was told for the questions of the plan.
    """
    domain, named = published.domain, set(asked)
    left = room_for(domain) - sum(domain.cells(columns) for columns in asked)
    more = fitting((columns for columns in in_order(published.tables, domain) if columns not in named), domain, left)
    counts = ((columns, rounded(published.marginal(columns))) for columns in (*asked, *more))
    return Listing(domain, [listed_table(columns, table, model, usual) for columns, table in counts])


def _copied(copies: Copies, domain: Domain) -> dict[str, bytes]:
    """Two files for each origin and for each copy."""
    files: dict[str, bytes] = {}
    for place, both in enumerate(copies):
        for stem, frame in zip((ORIGIN, COPY), both, strict=True):
            name = numbered(stem, place)
            files |= {f"{name}.csv": to_csv(frame), f"{name}.parquet": parquet(frame, domain)}
    return files
