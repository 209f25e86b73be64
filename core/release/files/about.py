"""The text beside the files of a release: what each of them is."""

from __future__ import annotations

from textwrap import fill

from core.base.errors import printable
from core.base.wording import amount, plural
from core.release.certificate import Certificate
from core.release.copies.combining import LIMIT
from core.release.listing import name_of, room_for
from core.schema.domain import Domain

WIDTH = 120
ABOUT = """This folder was released with differential privacy.

synthetic.csv, synthetic.parquet  synthetic records in the original columns; no line belongs to a person
tables.csv, tables.parquet        the tables of counts that were asked for, and others that were released with them
tables.json, tables.npz           released tables as arrays, if any; more exact than the records
statistics.csv                    means, sums and quantiles by group with intervals, if any were asked for
halfspaces.csv                    rows beside planes, by the mechanism's own medians and by the records, if it has both
nonlinear.csv                     statistics that are not sums, by the mechanism's databases and by the records, if any
schema.json                       the public schema: bounds, bins and categories
certificate.json                  what is promised, and how it was made
report.html                       the same for people, with figures
croissant.json                    metadata for data catalogues (JSON-LD)
notebook.ipynb                    a notebook that opens these files
reproduce.py                      a script that makes such a release again, for whoever holds the table

The lists of tables have one line for each count: the name of the table, a column for every variable (blank where the
table does not use it), the count, its standard error, its expected error and its source. A 'measured' table was counted
with noise of that standard error in each cell, and then made to agree with the others; an 'inferred' one follows from
what was measured. Both are blank where the mechanism does not say, the standard error also where it is not one number
for the whole table. The expected error is that of a count on average, in rows: of this table where the mechanism knows
it, else of all that was asked for, as it was told before.

In the CSV files an apostrophe stands where a spreadsheet could begin a formula: at the start of a text, and inside it
after a semicolon, tab or line break. The Parquet files have the exact text.
"""
COPIES = """
copies/                           {number} tables that the original may be, by what is released (origin), and what the
                                  mechanism makes of each with other noise (synthetic): to make intervals from
combine.py                        one estimate with its interval from records, copies and origins: run it, or import it

Use synthetic.csv for everything but intervals; a copy has the noise twice. Intervals account for the noise, for what a
fit to noisy counts bends and, by a measured size, for dependences of pairs of columns that were not measured.
{limit}
"""


def about(certificate: Certificate, domain: Domain) -> str:
    """The text beside the files; it names every table that was asked for and is not listed."""
    text = (
        ABOUT
        + (COPIES.format(number=certificate.copies, limit=fill(LIMIT, WIDTH)) if certificate.copies else "")
        + _doubtful(certificate)
    )
    if not certificate.unlisted:
        return text
    lines = [
        f"  {printable(name_of(columns), 1_000)} ({plural(domain.cells(columns), 'cell')})"
        for columns in certificate.unlisted
    ]
    return (
        f"{text}\nNot in the lists of tables, which end at {amount(room_for(domain))} counts over this schema; the "
        "records answer in their\nplace, or a larger table in tables.npz:\n" + "\n".join(lines) + "\n"
    )


def _doubtful(certificate: Certificate) -> str:
    if not certificate.doubtful:
        return ""
    lines = [f"  {printable(name_of(columns), 1_000)}" for columns in certificate.doubtful]
    return "\nMostly noise, so that associations in these tables cannot be trusted:\n" + "\n".join(lines) + "\n"
