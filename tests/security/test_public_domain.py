"""The schema is public, whatever stands in the table: neighbours differ in counts and in nothing else."""

from __future__ import annotations

import io
import logging
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from core import Budget, Desk, Domain, Marginals, Unit
from core.base.errors import DeskError
from core.kernel.query import Query
from core.schema.domain import Booleans, Categories, Dates, Integers, Reals

DOMAIN = Domain(
    (
        Categories(name="town", values=("Aa", "Bb"), other="elsewhere", missing=True),
        Integers(name="age", low=0, high=99, bins=5),
        Reals(name="weight", low=0, high=150, bins=4, missing=True),
        Booleans(name="ill"),
        Dates(name="seen", low="2020-01-01", high="2020-12-31", bins=3),
    )
)
ROW: dict[str, Any] = {"town": "Aa", "age": 40, "weight": 70.5, "ill": True, "seen": "2020-05-05"}
PEOPLE = [ROW | {"age": age, "ill": age % 3 == 0, "town": ("Aa", "Bb")[age % 2]} for age in range(60)]
NEIGHBOURS: dict[str, dict[str, Any]] = {
    "a plain row": ROW,
    "an unseen category": ROW | {"town": "Atlantis"},
    "a very long category": ROW | {"town": "x" * 50_000},
    "an outlier": ROW | {"age": 10**12, "weight": -1e300},
    "an infinite value": ROW | {"weight": float("inf")},
    "a row of nothing": dict.fromkeys(ROW),
    "a row of NaN": ROW | {"weight": float("nan"), "age": float("nan")},
    "a number that is none": ROW | {"age": "forty"},
    "a day that is none": ROW | {"seen": "2020-02-31"},
    "a day far away": ROW | {"seen": "9999-12-31"},
    "quotes and line ends": ROW | {"town": 'A "b",\nc'},
    "a formula": ROW | {"town": "=1+1"},
    "another alphabet": ROW | {"town": "統計 \u202e"},
}
"""The row by which a neighbouring table is larger."""


@dataclass(frozen=True)
class Seen:
    """Everything about a run that may not depend on one row, and that anybody could notice."""

    schema: str
    shapes: tuple[Any, ...]
    errors: tuple[str, ...]
    plan: tuple[Any, ...]
    files: tuple[str, ...]
    columns: tuple[Any, ...]
    log: tuple[tuple[str, str, str], ...]
    shown: tuple[str, ...]


def as_text(rows: list[dict[str, Any]], folder: Path) -> Path:
    pd.DataFrame(rows).to_csv(folder / "people.csv", index=False)
    return folder / "people.csv"


def as_frame(rows: list[dict[str, Any]], folder: Path) -> pd.DataFrame:
    return pd.DataFrame(rows)


Way = Callable[[list[dict[str, Any]], Path], Any]


def errors_of(calls: list[Callable[[], object]]) -> Iterator[str]:
    for call in calls:
        try:
            call()
            yield "none"
        except DeskError as problem:
            yield f"{type(problem).__name__}: {problem}"


class Log:
    """What is logged, like pytest's caplog, whose scope is one test only."""

    def __init__(self) -> None:
        self.records: list[logging.LogRecord] = []
        self.handler = logging.Handler(logging.DEBUG)
        self.handler.emit = self.records.append  # type: ignore[method-assign]

    def __enter__(self) -> Log:
        logging.getLogger().addHandler(self.handler)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger().removeHandler(self.handler)


def look(rows: list[dict[str, Any]], way: Way, folder: Path, domain: Callable[..., Domain]) -> Seen:
    """Take a table in, release it, ask it, fail with it, and write down what can be noticed besides the numbers."""
    with Log() as log:
        seen = _look(rows, way, folder, domain)
    return replace(seen, log=tuple((record.name, record.levelname, record.getMessage()) for record in log.records))


def _look(rows: list[dict[str, Any]], way: Way, folder: Path, domain: Callable[..., Domain]) -> Seen:
    folder.mkdir()
    desk = Desk(folder / "workspace")
    held = desk.add_table(way(rows, folder), domain(rows), unit=Unit.row(), budget=Budget(4), name="people")
    plan = desk.plan(held, [Marginals(order=2)], mechanism="laplace", budget=Budget(1), records=50)
    release = desk.release(plan)
    session = desk.ask(held, mechanism="online-laplace", budget=Budget(1), questions=3)
    answer = session.answer(Query(columns=("ill",), weights=np.array([1, 0]), words="ill"))
    counts = desk.truth(held)
    failing: list[Callable[[], object]] = [
        lambda: desk.plan(held, [Marginals(columns=("nobody",))], mechanism="laplace", budget=Budget(1)),
        lambda: desk.plan(held, [Marginals(order=9)], mechanism="laplace", budget=Budget(1)),
        lambda: desk.release(desk.plan(held, [Marginals(order=1)], mechanism="laplace", budget=Budget(9))),
        lambda: counts.marginal(["nobody"]),
        lambda: session.answer(Query(columns=("nobody",), weights=np.array([1, 0]), words="nobody")),
    ]
    with zipfile.ZipFile(io.BytesIO(release.zip())) as archive:
        files = tuple(archive.namelist())
    records = release.records()
    seen = Seen(
        schema=held.domain.to_json(),
        shapes=tuple(
            (pair, counts.marginal(pair).shape, counts.marginal(pair).dtype.str)
            for pair in ([], *[[name] for name in held.domain.names], ["town", "age"], held.domain.names)
        ),
        errors=tuple(errors_of(failing)),
        plan=(plan.units, str(plan.cost), str(plan.expected_error), answer.kind, answer.margin, answer.left),
        files=files,
        columns=(len(records), *((name, str(kind)) for name, kind in records.dtypes.items())),
        log=(),
        shown=(str(held.unit), str(desk.statement(held).left_epsilon), str(desk.progress(plan.id)), repr(session.unit)),
    )
    desk.close()
    return seen


ORDINARY: dict[Way, Seen] = {}


def declared(_: list[dict[str, Any]]) -> Domain:
    return DOMAIN


def read_off(rows: list[dict[str, Any]]) -> Domain:
    """The mutant: categories and bounds come from the rows."""
    towns = dict.fromkeys(str(row["town"]) for row in rows)
    ages = [int(row["age"]) for row in rows if isinstance(row["age"], int)]
    return Domain(
        (
            Categories(name="town", values=tuple(towns), other="elsewhere", missing=True),
            Integers(name="age", low=min(ages), high=max(ages), bins=5),
            *(DOMAIN[name] for name in ("weight", "ill", "seen")),
        )
    )


@pytest.fixture
def ordinary(small_trials: None, tmp_path_factory: pytest.TempPathFactory) -> dict[Way, Seen]:
    """What the table shows without anybody special; looked at once, with figures from the same trials as the others."""
    for way in (as_text, as_frame):
        if way not in ORDINARY:
            ORDINARY[way] = look(PEOPLE, way, tmp_path_factory.mktemp("ordinary") / "desk", declared)
    return ORDINARY


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=3)
@pytest.mark.parametrize("way", [as_text, as_frame])
@pytest.mark.parametrize("case", NEIGHBOURS)
def test_one_row_changes_nothing_that_can_be_noticed(
    case: str, way: Way, ordinary: dict[Way, Seen], tmp_path: Path
) -> None:
    seen = look([*PEOPLE, NEIGHBOURS[case]], way, tmp_path / "desk", declared)
    assert "none" not in seen.errors, "each of these calls must fail"
    assert seen == ordinary[way]


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", ["an unseen category", "an outlier"])
def test_a_schema_that_is_read_off_the_rows_is_caught(case: str, tmp_path: Path) -> None:
    without = look(PEOPLE, as_frame, tmp_path / "without", read_off)
    with_it = look([*PEOPLE, NEIGHBOURS[case]], as_frame, tmp_path / "with", read_off)
    assert with_it != without


def test_a_line_in_the_log_is_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ordinary: dict[Way, Seen]
) -> None:
    encode = Categories.encode

    def talkative(self: Categories, values: Any) -> Any:
        codes, misfits = encode(self, values)
        if misfits.any():
            logging.getLogger("core").warning("some values did not fit")
        return codes, misfits

    monkeypatch.setattr(Categories, "encode", talkative)
    seen = look([*PEOPLE, NEIGHBOURS["an unseen category"]], as_frame, tmp_path / "desk", declared)
    assert seen != ordinary[as_frame]
