"""A file of 15 columns and as many rows as wanted, with people: what loading and counting is measured on."""

from __future__ import annotations

import itertools
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
from pyarrow import parquet

from core.schema.domain import Attribute, Categories, Domain, Integers, Reals

PIECE = 1_000_000
"""Rows made and written at a time."""
TEXTS = {"sex": 2, "smoker": 2, "race": 5, "relation": 6, "marital": 7, "work": 9, "education": 16, "country": 42}
WHOLES = {"age": 100, "hours": 100, "children": 12, "year": 120}
REALS = {"income": 50, "weight": 64, "score": 100}
PERSON = "person"


def domain() -> Domain:
    texts: list[Attribute] = [Categories(name=name, values=tuple(_values(name))) for name in TEXTS]
    wholes: list[Attribute] = [Integers(name=name, low=0, high=size - 1) for name, size in WHOLES.items()]
    reals: list[Attribute] = [Reals(name=name, low=0, high=1000, bins=bins) for name, bins in REALS.items()]
    return Domain((*texts, *wholes, *reals))


def _values(name: str) -> list[str]:
    return [f"{name} number {code}" for code in range(TEXTS[name])]


def write_rows(folder: Path, kind: str, rows: int) -> Path:
    """Made-up rows; skewed, as real columns are. People have four each on average."""
    made, generator = folder / "rows.parquet", np.random.default_rng(1)
    pieces = (_piece(generator, min(PIECE, rows - start), rows // 4) for start in range(0, rows, PIECE))
    first = next(pieces)
    with parquet.ParquetWriter(made, first.schema) as writer:
        for piece in itertools.chain([first], pieces):
            writer.write_table(piece)
    if kind != "csv":
        return made
    with duckdb.connect() as engine:
        engine.read_parquet(str(made)).write_csv(str(folder / "rows.csv"))
    return folder / "rows.csv"


def _piece(generator: np.random.Generator, rows: int, people: int) -> pa.Table:
    skewed = {name: (generator.beta(1, 3, rows) * size).astype(int) for name, size in {**TEXTS, **WHOLES}.items()}
    texts = {name: pa.array(_values(name)).take(pa.array(skewed[name])) for name in TEXTS}
    wholes = {name: skewed[name] for name in WHOLES}
    reals = {name: np.round(generator.beta(1, 3, rows) * 1000, 3) for name in REALS}
    return pa.table({**texts, **wholes, **reals, PERSON: generator.integers(0, people, rows)})
