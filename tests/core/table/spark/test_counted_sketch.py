"""A table of which only counts are seen is recognised by them, beside the same rows in a file and beside others not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.privacy.unit import Unit
from core.schema.domain import Booleans, Categories, Dates, Domain, Integers, Reals
from core.table.same_rows import RowSketch, same_rows
from core.table.spark.counted_sketch import counted_sketch
from core.table.table import Table
from tests.core.table.spark.test_spark import Fixed

KEY = "0123456789abcdef"
DOMAIN = Domain(
    (
        Categories(name="Town", values=("Aa", "Bb", "Cc"), other="elsewhere", missing=True),
        Categories(name="grade", values=(0, 1, 2, 3)),
        Integers(name="age", low=0, high=99, missing=True),
        Dates(name="seen", low="2020-01-01", high="2020-03-31"),
        Booleans(name="ill", missing=True),
        Integers(name="pay", low=0, high=9_999, bins=20),
        Reals(name="weight", low=0, high=150, bins=15),
    )
)


def drawn(seed: int, rows: int = 3_000) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "Town": draw.choice(np.array(["Aa", "Bb", "Cc", None], dtype=object), rows),
            "grade": draw.integers(0, 4, rows),
            "age": pd.Series(draw.integers(0, 100, rows), dtype="Int64").mask(draw.random(rows) < 0.1),
            "seen": np.datetime64("2020-01-01") + draw.integers(0, 91, rows),
            "ill": pd.Series(draw.random(rows) < 0.3, dtype="boolean").mask(draw.random(rows) < 0.1),
            "pay": draw.integers(0, 10_000, rows),
            "weight": np.round(draw.random(rows) * 150, 2),
        }
    )


PEOPLE = drawn(1)


def counted(frame: pd.DataFrame, names: tuple[str, ...] = DOMAIN.names) -> RowSketch:
    table = Table.load(frame, DOMAIN.project(names), Unit.row(), Fixed())
    return counted_sketch(table, table.misfits, table.rows, KEY)


def seen(source: pd.DataFrame | Path) -> RowSketch:
    """The sketch of the same table at a desk, as it is kept and read again."""
    made = Table.load(source, DOMAIN, Unit.row(), Fixed(), key=KEY).sketch
    assert made is not None
    return RowSketch.from_bytes(made.thinned().to_bytes())


def test_counts_are_those_of_the_sketch_of_the_rows(tmp_path: Path) -> None:
    PEOPLE.sample(frac=1, random_state=1).to_csv(tmp_path / "people.csv", index=False)
    known, found = seen(tmp_path / "people.csv"), counted(PEOPLE)
    assert set(found.counts) == {"town", "grade", "age", "seen", "ill"} == set(found.marks)
    assert all(found.counts[name] == known.counts[name] for name in found.counts)
    assert same_rows(known, found) and same_rows(found, known)
    assert not len(found.marks["town"])


@pytest.mark.parametrize("name", ["age", "seen"])
def test_a_column_is_enough(name: str) -> None:
    assert same_rows(seen(PEOPLE), counted(PEOPLE, (name,)))
    assert same_rows(counted(PEOPLE), counted(PEOPLE.iloc[1:], (name,)))


def test_other_people_are_told_apart() -> None:
    other = counted(drawn(2))
    assert not same_rows(seen(PEOPLE), other)
    assert not same_rows(other, counted(PEOPLE))


def test_a_column_in_which_a_value_was_changed_says_nothing() -> None:
    changed = PEOPLE.assign(
        Town=PEOPLE["Town"].where(PEOPLE.index != 7, "Dd"), age=PEOPLE["age"].mask(PEOPLE.index == 7, 200)
    )
    found = counted(changed)
    assert set(found.counts) == {"grade", "seen", "ill"}


def test_a_column_of_many_values_says_nothing_either() -> None:
    domain = Domain((Integers(name="pay", low=0, high=9_999),))
    table = Table.load(PEOPLE, domain, Unit.row(), Fixed())
    assert not counted_sketch(table, table.misfits, table.rows, KEY).counts
