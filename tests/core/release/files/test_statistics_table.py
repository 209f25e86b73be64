"""Statistics in a release: in its archive, by group, with intervals that say where they come from and hold."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.desk.desk import Desk
from core.plans.statements import DeskTable
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.marginals import Marginals
from core.queries.statistics import Statistics
from core.release.files.statistics_table import EXPECTED, MEASURED
from core.release.release import Release
from core.schema.domain import Domain

ROWS = 4_000
ASKED = Statistics(column="age", groups=("sex",))


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    generator = np.random.default_rng(3)
    ages = np.clip(generator.normal(40, 12, ROWS), 0, 99).astype(int)
    return pd.DataFrame({"age": ages, "sex": generator.choice(["f", "m"], ROWS, p=[0.7, 0.3])})


@pytest.fixture(scope="module")
def held(people: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> tuple[Desk, DeskTable]:
    desk = Desk(tmp_path_factory.mktemp("desk"), journal=Path(tmp_path_factory.mktemp("journal")))
    domain = Domain.from_list(
        [
            {"name": "age", "kind": "integers", "low": 0, "high": 99, "bins": 20},
            {"name": "sex", "kind": "categories", "values": ["f", "m"]},
        ]
    )
    return desk, desk.add_table(people, domain, unit=Unit.row(), budget=Budget(100, "1e-6"))


@pytest.mark.exhaustive
@pytest.mark.parametrize("measure", [None, 0.05])
def test_a_release_carries_what_was_asked(
    held: tuple[Desk, DeskTable], people: pd.DataFrame, measure: float | None
) -> None:
    desk, table = held
    release = asked_of(desk, table, measure)
    with zipfile.ZipFile(io.BytesIO(release.zip())) as archive:
        stored = pd.read_csv(io.BytesIO(archive.read("statistics.csv")))
    found = release.statistics(ASKED)
    pd.testing.assert_frame_equal(stored, found, check_dtype=False)
    assert found["group"].tolist() == ["sex = f", "sex = m"]
    assert set(found["intervals"]) == {EXPECTED if measure is None else MEASURED}
    assert all(abs(line["mean"] - exact["mean"]) < 2 for line, exact in beside(found, people))


@pytest.mark.exhaustive
@pytest.mark.parametrize("measure", [None, 0.05])
def test_intervals_hold_the_truth(held: tuple[Desk, DeskTable], people: pd.DataFrame, measure: float | None) -> None:
    """Each is claimed at 95 %: of eight releases with eight figures each, one figure in eight may be outside."""
    inside = [
        line[f"{name} from"] <= value <= line[f"{name} to"]
        for edition in range(1, 9)
        for line, exact in beside(asked_of(*held, measure, edition).statistics(ASKED), people)
        for name, value in exact.items()
    ]
    assert len(inside) == 64 and sum(inside) >= 56


def asked_of(desk: Desk, table: DeskTable, measure: float | None, edition: int = 1) -> Release:
    budget = Budget(4, "1e-9")
    return desk.release(
        desk.plan(table, [ASKED], mechanism="gaussian", budget=budget, measure=measure, edition=edition)
    )


def beside(found: pd.DataFrame, people: pd.DataFrame) -> Iterator[tuple[pd.Series, dict[str, float]]]:
    """Each line with what is true of its group."""
    middles = people["age"] // 5 * 5 + 2
    for place, sex in enumerate("fm"):
        own = middles[people["sex"] == sex]
        yield (
            found.iloc[place],
            {
                "number": len(own),
                "sum": own.sum(),
                "mean": own.mean(),
                "median": own.quantile(interpolation="lower"),
            },
        )


def test_other_releases_have_none_and_other_questions_no_interval(held: tuple[Desk, DeskTable]) -> None:
    desk, table = held
    release = desk.release(desk.plan(table, [Marginals(order=2)], mechanism="gaussian", budget=Budget(4, "1e-9")))
    assert "statistics.csv" not in release.files
    line = release.statistics(Statistics(column="age")).iloc[0]
    assert line["group"] == "all rows" and pd.isna(line["mean from"]) and line["intervals"] == ""
