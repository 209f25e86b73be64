"""A notebook that opens a release: records, counts and what may be said about them; it runs beside the files."""

from __future__ import annotations

import json
from typing import Any

from core.release.certificate import Certificate
from core.release.copies.combining import LIMIT
from core.release.files.catalogue import promise
from core.schema.domain import Domain

LOAD = """import json
from pathlib import Path

import pandas as pd


def beside(name):
    # A file that was downloaded alone has the table's name before its own.
    found = min(Path(".").glob(f"*{name}"), key=lambda path: len(path.name), default=None)
    if found is None:
        raise FileNotFoundError(f"{name} is missing: put the files of the release into the folder of this notebook.")
    return found


certificate = json.loads(beside("certificate.json").read_text(encoding="utf-8"))
records = pd.read_parquet(beside("synthetic.parquet"))
records.head()"""
ONE = """column = {name}
records[column].value_counts(normalize=True, dropna=False).head(20)"""
TABLES = """tables = pd.read_parquet(beside("tables.parquet"))
name = tables.iloc[0, 0]
tables[tables.iloc[:, 0] == name].dropna(axis="columns", how="all").head(20)"""
COPIES = """copies, origins = (
    [pd.read_parquet(path) for path in sorted(Path("copies").glob(f"{name}-*.parquet"))]
    for name in ("synthetic", "origin")
)


def statistic(frame):
    return frame.mean(numeric_only=True)


def intervals():
    from combine import combine

    found = combine(statistic(records), [statistic(each) for each in copies], [statistic(each) for each in origins])
    return pd.DataFrame({"estimate": found.estimate, "low": found.low, "high": found.high}, statistic(records).index)


intervals() if copies and origins else 'The copies and combine.py are in the ZIP of the release: run this there.'"""
ABOUT_COPIES = f"""Intervals of 95 %: they account for the noise, for what a fit to noisy counts bends and, by a
measured size, for dependences of pairs of columns that were not measured. {LIMIT}"""
CAUTION = """Shares of many records are close to those of the table; the certificate says how close. Counts of
small groups are mostly noise, no record belongs to a person, and tests that assume a random sample from the population
are too sure of themselves here: the noise that protects people comes on top."""


def notebook(certificate: Certificate, domain: Domain, tables: bool) -> str:
    """The notebook in Jupyter's format 4, with its tables if any are listed. Names of columns enter code as quoted
    literals only."""
    cells = [
        _text(f"# Synthetic data\n\n{promise(certificate)}"),
        _code(LOAD),
        _code(ONE.format(name=ascii(domain.names[0]))),
        *([_text("## Released tables of counts"), _code(TABLES)] if tables else []),
        *([_text(f"## Intervals\n\n{ABOUT_COPIES}"), _code(COPIES)] if certificate.copies else []),
        _text(f"## How not to use it\n\n{CAUTION}"),
    ]
    for place, cell in enumerate(cells):
        cell["id"] = f"cell-{place}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return json.dumps(
        {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}, indent=1
    )


def _text(source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": source}


def _code(source: str) -> dict[str, Any]:
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source}
