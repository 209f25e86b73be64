"""A small table of people with columns of every kind, its files, and its codes by plain pandas."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pandas as pd

from core.schema.domain import Booleans, Categories, Dates, Domain, Integers, Reals


def people(rows: int = 2000) -> pd.DataFrame:
    draw = np.random.default_rng(7)
    return pd.DataFrame(
        {
            "id": draw.integers(0, rows // 4, rows),
            "town": draw.choice(["Aa", "Bb", "Cc", "Dd", None], rows),
            "age": draw.integers(-5, 130, rows),
            "weight": np.where(draw.random(rows) < 0.1, np.nan, draw.normal(70, 30, rows).round(2)),
            "ill": draw.random(rows) < 0.2,
            "seen": pd.Timestamp("2019-12-01") + pd.to_timedelta(draw.integers(0, 500, rows), unit="D"),
            "grade": draw.integers(0, 5, rows),
            "unused": draw.random(rows),
        }
    )


def schema() -> Domain:
    return Domain(
        (
            Categories(name="town", values=("Aa", "Bb", "Cc"), other="elsewhere", missing=True),
            Integers(name="age", low=0, high=99, bins=10),
            Reals(name="weight", low=0, high=150, bins=16, missing=True),
            Booleans(name="ill"),
            Dates(name="seen", low="2020-01-01", high="2020-12-31", bins=12),
            Categories(name="grade", values=(0, 1, 2, 3), missing=True),
        )
    )


def written(frame: pd.DataFrame, folder: Path) -> dict[str, object]:
    frame.to_csv(folder / "people.csv", index=False)
    frame.to_csv(folder / "people.tsv", index=False, sep="\t")
    frame.to_csv(folder / "semicolon.txt", index=False, sep=";")
    frame.to_csv(folder / "bom.csv", index=False, encoding="utf-8-sig", lineterminator="\r\n")
    frame.to_parquet(folder / "people.parquet")
    with duckdb.connect(str(folder / "people.duckdb")) as engine:
        engine.register("frame", frame)
        engine.execute('CREATE TABLE "the people" AS SELECT * FROM frame')
    return {
        "frame": frame,
        "csv": folder / "people.csv",
        "tsv": str(folder / "people.tsv"),
        "semicolon": folder / "semicolon.txt",
        "bom": folder / "bom.csv",
        "parquet": folder / "people.parquet",
        "duckdb": (folder / "people.duckdb", "the people"),
    }


def labelled(frame: pd.DataFrame, domain: Domain) -> pd.DataFrame:
    """The codes by plain pandas, written independently of `encode`."""
    town = frame["town"].map({"Aa": 0, "Bb": 1, "Cc": 2, "Dd": 3}).fillna(4)
    weight = np.floor(frame["weight"].clip(0, 149.99) / (150 / 16)).fillna(16)
    first, last = pd.Timestamp("2020-01-01"), pd.Timestamp("2020-12-31")
    days = (frame["seen"].clip(first, last) - first).dt.days
    starts = [366 * month // 12 for month in range(12)]
    codes = {
        "town": town,
        "age": frame["age"].clip(0, 99) // 10,
        "weight": weight,
        "ill": frame["ill"],
        "seen": pd.Series(np.digitize(days, starts) - 1, index=frame.index),
        "grade": frame["grade"],
    }
    return pd.DataFrame(codes)[list(domain.names)].astype(int)
