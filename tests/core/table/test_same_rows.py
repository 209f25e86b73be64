"""The same rows are recognised in any order, format and choice of columns; other rows of the same people are not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.table.same_rows import MOST_KEPT_ROWS, RowSketch, same_rows
from core.table.source import opened

KEY = "0123456789abcdef"


def drawn(seed: int, rows: int = 6_000) -> pd.DataFrame:
    """People of one town: what one table of them says about the next is chance."""
    generator = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": generator.integers(0, 100, rows),
            "region": generator.choice(["north", "south", "east"], rows, p=[0.5, 0.3, 0.2]),
            "visit": np.datetime64("2020-01-01") + generator.integers(0, 700, rows),
            "ill": generator.random(rows) < 0.2,
            "charge": np.round(generator.gamma(2.0, 50.0, rows), 2),
        }
    )


PEOPLE = drawn(1)


def sketch(source: object, names: list[str] | None = None, key: str = KEY) -> RowSketch:
    with opened(source) as rows:  # type: ignore[arg-type]
        wanted = names or [column.name for column in rows.columns]
        return RowSketch.of(rows, wanted, rows.take(wanted), key)


KNOWN = sketch(PEOPLE).thinned()


def as_csv(folder: Path) -> Path:
    PEOPLE.to_csv(folder / "people.csv", index=False)
    return folder / "people.csv"


def as_parquet(folder: Path) -> Path:
    PEOPLE.astype({"charge": "float32"}).to_parquet(folder / "people.parquet")
    return folder / "people.parquet"


def with_crlf(folder: Path) -> Path:
    (folder / "crlf.csv").write_bytes(as_csv(folder).read_bytes().replace(b"\n", b"\r\n") + b"\r\n")
    return folder / "crlf.csv"


SAME: dict[str, Callable[[Path], object]] = {
    "a CSV file": as_csv,
    "a Parquet file": as_parquet,
    "other line ends": with_crlf,
    "another order of rows": lambda _: PEOPLE.sample(frac=1, random_state=3),
    "another order of columns": lambda _: PEOPLE[PEOPLE.columns[::-1]],
    "a useless column": lambda _: PEOPLE.assign(useless=range(len(PEOPLE))),
    "a row less": lambda _: PEOPLE.iloc[1:],
    "a row more": lambda _: pd.concat([PEOPLE, PEOPLE.iloc[:1]]),
    "three columns": lambda _: PEOPLE[["age", "visit", "charge"]],
    "two coarse columns": lambda _: PEOPLE[["age", "region"]],
    "one coarse column": lambda _: PEOPLE[["age"]],
    "names in capitals": lambda _: PEOPLE.rename(columns=str.upper),
    "half of the rows": lambda _: PEOPLE.iloc[::2],
    "two hundred rows": lambda _: PEOPLE.iloc[:200],
    "days written otherwise": lambda _: PEOPLE.assign(visit=PEOPLE["visit"].dt.strftime("%d.%m.%Y")),
    "yes and no in another language": lambda _: PEOPLE.assign(ill=PEOPLE["ill"].map({True: "ja", False: "nein"})),
    "another currency": lambda _: PEOPLE.assign(charge=PEOPLE["charge"] * 1.0837),
    "a year later": lambda _: PEOPLE[["age", "region", "ill"]].assign(visit=2021),
    "days otherwise and half of the rows": lambda _: PEOPLE.assign(visit=PEOPLE["visit"].dt.strftime("%d.%m.%Y")).iloc[
        ::2
    ],
    "twice as many people": lambda _: pd.concat([PEOPLE, drawn(2)]),
}
OTHER: dict[str, Callable[[Path], object]] = {
    "other people": lambda _: drawn(2),
    "other people in coarse columns": lambda _: drawn(2)[["region", "ill"]],
    "other people in one column": lambda _: drawn(2)[["age"]],
    "other people, and days written otherwise": lambda _: drawn(2).assign(visit="none of these days"),
    "nothing but days written otherwise": lambda _: PEOPLE[["visit"]].astype(str).add(" or so"),
    "a few other people": lambda _: drawn(2, 300),
    "a few in a coarse column": lambda _: drawn(2, 300)[["region"]],
    "many other people and some of these": lambda _: pd.concat([drawn(2), PEOPLE.iloc[:600]]),
    "other columns": lambda _: PEOPLE.rename(columns=lambda name: f"my {name}"),
    "all combinations": lambda _: pd.DataFrame(
        [(r, i) for r in ("north", "south") for i in (True, False)], columns=["region", "ill"]
    ),
}


@pytest.mark.parametrize("what", SAME)
def test_the_same_rows_are_recognised(what: str, tmp_path: Path) -> None:
    assert same_rows(KNOWN, sketch(SAME[what](tmp_path)))


@pytest.mark.parametrize("what", OTHER)
def test_other_rows_are_not(what: str, tmp_path: Path) -> None:
    assert not same_rows(KNOWN, sketch(OTHER[what](tmp_path)))


def towns(seed: int) -> pd.DataFrame:
    """Of 2,000 towns; nobody stands alone but by the town."""
    generator = np.random.default_rng(seed)
    return pd.DataFrame(
        {name: generator.integers(0, size, 30_000) for name, size in (("town", 2_000), ("age", 70), ("sex", 2))}
    )


@pytest.mark.parametrize("chosen", [1, 2, 5, 40])
def test_the_people_of_a_few_towns_are_recognised_among_those_of_all(chosen: int) -> None:
    """A column with one value says nothing by itself, and yet tells who these people are among all."""
    every, other = towns(7), towns(8)
    part, others = (sketch(each[each["town"] < chosen]) for each in (every, other))
    whole = sketch(every).thinned()
    assert same_rows(whole, part) and same_rows(part.thinned(), sketch(every))
    assert not same_rows(whole, others)


@pytest.mark.exhaustive
def test_hundreds_of_tables_of_the_same_town_are_kept_apart() -> None:
    columns = [["age", "region"], ["region", "ill"], ["region"], list(PEOPLE.columns)]
    found = [
        same_rows(sketch(drawn(seed, 500)[names]), sketch(drawn(seed + 1000, 500)[names]))
        for seed in range(10, 60)
        for names in columns
    ]
    assert sum(found) == 0


def test_it_is_kept_and_read_back_and_small() -> None:
    large = sketch(drawn(5, MOST_KEPT_ROWS + 5_000))
    kept = large.thinned()
    assert {len(marks) for marks in kept.marks.values()} == {MOST_KEPT_ROWS}
    read = RowSketch.from_bytes(kept.to_bytes())
    assert (read.rows, read.counts) == (kept.rows, kept.counts)
    assert same_rows(read, large)
    assert len(kept.to_bytes()) < 5 * 4 * MOST_KEPT_ROWS + 100_000


def test_a_sketch_has_no_values_and_another_key_gives_other_hashes() -> None:
    assert b"north" not in KNOWN.to_bytes()
    assert not np.isin(sketch(PEOPLE, key="fedcba9876543210").marks["region"], KNOWN.marks["region"]).any()
    assert "north" not in repr(KNOWN) and "6000" not in repr(KNOWN)
