"""A public sample gives bounds and categories; the private table never does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from core.base.errors import BadFile, BadSchema, Refused
from core.schema.domain import Domain
from core.table.public_sample import MOST_CATEGORIES, NOTE, describe
from tests.core.table.test_same_rows import PEOPLE, drawn

PRIVATE = pd.DataFrame({"age": [99, 1], "region": ["secret", "secret"]})
SAMPLE = b"""age,region,visit,score,ill,zip,empty,far
30,north,2020-02-01,1.5,yes,01234,,0
41,south,2021-03-01T10:00:00,2.25,no,99999,,5000000
, north ,2020-12-31,-1,YES,00001,,7
"""


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    path = tmp_path / "sample.csv"
    path.write_bytes(SAMPLE)
    return path


def test_everything_is_read_off_the_sample(sample: Path) -> None:
    names = ["age", "region", "visit", "score", "ill", "zip", "empty", "far", "absent"]
    lines = describe(sample, names, private=PRIVATE)
    found = {line["name"]: line for line in lines}
    assert found["age"] == {"name": "age", "kind": "integers", "low": 30, "high": 41, "missing": True, "note": NOTE}
    assert found["region"]["values"] == ["north", "south"]
    assert (found["visit"]["low"], found["visit"]["high"]) == ("2020-02-01", "2021-03-01")
    assert (found["score"]["kind"], found["score"]["low"], found["score"]["high"]) == ("reals", -1.0, 2.25)
    assert found["ill"]["kind"] == "booleans"
    assert found["zip"]["values"] == ["00001", "01234", "99999"]
    assert found["far"]["bins"] == 100
    assert not {"empty", "absent"} & set(found)
    assert len(Domain.from_list(lines)) == 7
    assert "secret" not in str(lines)


def test_only_columns_of_the_table_are_described(sample: Path) -> None:
    assert [line["name"] for line in describe(sample, ["region"], private=PRIVATE)] == ["region"]


def test_the_private_table_itself_is_refused(sample: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.csv"
    copy.write_bytes(SAMPLE)
    with pytest.raises(Refused, match="private table itself"):
        describe(copy, ["age"], private=sample)


def test_free_text_is_left_to_its_curator() -> None:
    frame = pd.DataFrame({"age": 1, "region": [f"text {place}" for place in range(MOST_CATEGORIES + 1)]})
    assert [line["name"] for line in describe(frame, ["age", "region"], private=PRIVATE)] == ["age"]


def test_a_constant_column_is_still_a_valid_one() -> None:
    frame = pd.DataFrame({"age": [1.5, 1.5], "region": ["other", "x"]})
    lines = describe(frame, ["age", "region"], private=PRIVATE)
    domain = Domain.from_list(lines)
    assert domain["region"].label(2) == "something else"
    assert domain["age"].encode([1.5])[1].tolist() == [False]


def test_samples_that_do_not_help() -> None:
    with pytest.raises(BadSchema, match="no column of the table"):
        describe(pd.DataFrame({"x": [1]}), ["age"], private=PRIVATE)
    with pytest.raises(BadSchema, match="no rows"):
        describe(pd.DataFrame({"age": []}), ["age"], private=PRIVATE)
    with pytest.raises(BadFile, match="no such file"):
        describe("nowhere.csv", ["age"], private=PRIVATE)


@pytest.mark.parametrize(
    "part",
    [
        lambda people: people.iloc[:400],
        lambda people: people.sample(400, random_state=1)[["charge", "age", "visit"]],
        lambda people: pd.concat([people.iloc[:200], drawn(9, 200)]),
        lambda people: people.sample(frac=1, random_state=1),
        lambda people: people.iloc[:5],
    ],
)
def test_rows_of_the_private_table_are_refused(part: Callable[[pd.DataFrame], pd.DataFrame], tmp_path: Path) -> None:
    part(PEOPLE).to_csv(tmp_path / "sample.csv", index=False)
    with pytest.raises(Refused, match="rows of the private table") as problem:
        describe(tmp_path / "sample.csv", list(PEOPLE.columns), private=PEOPLE)
    assert not any(character.isdigit() for character in str(problem.value)), "not even how many"


@pytest.mark.parametrize(
    "public",
    [
        drawn(9, 400),
        drawn(9, 400)[["region", "ill"]],
        pd.DataFrame([(r, i) for r in ("north", "south", "east") for i in (True, False)], columns=["region", "ill"]),
        pd.concat([drawn(9, 400), PEOPLE.iloc[:20]]),
    ],
)
def test_a_public_sample_may_have_rows_that_are_equal_by_chance(public: pd.DataFrame) -> None:
    assert describe(public, list(PEOPLE.columns), private=PEOPLE)
