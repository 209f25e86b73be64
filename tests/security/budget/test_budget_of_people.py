"""No other spelling of the same rows renews their budget; whoever keeps them apart says why, for good."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from core import Budget, Desk, Domain, Marginals, Unit
from core.base.errors import BadParameter, DeskError, OutOfBudget, Refused
from core.schema.domain import Booleans, Categories, Integers
from tests.core.table.test_same_rows import PEOPLE, drawn

AGE, REGION = (
    Integers(name="age", low=0, high=99, bins=10),
    Categories(name="region", values=("north", "south", "east")),
)
DOMAIN = Domain((AGE, REGION, Booleans(name="ill")))
TOTAL = Budget(1)


def written(frame: pd.DataFrame, path: Path) -> Path:
    frame.to_csv(path, index=False)
    return path


def changed(folder: Path, change: Callable[[bytes], bytes]) -> Path:
    (folder / "changed.csv").write_bytes(change(written(PEOPLE, folder / "people.csv").read_bytes()))
    return folder / "changed.csv"


def parquet(folder: Path) -> Path:
    PEOPLE.to_parquet(folder / "people.parquet")
    return folder / "people.parquet"


WAYS: dict[str, Callable[[Path], Any]] = {
    "one more newline": lambda folder: changed(folder, lambda text: text + b"\n"),
    "CRLF": lambda folder: changed(folder, lambda text: text.replace(b"\n", b"\r\n")),
    "another order of rows": lambda folder: written(PEOPLE.iloc[::-1], folder / "rows.csv"),
    "another order of columns": lambda folder: written(PEOPLE[PEOPLE.columns[::-1]], folder / "columns.csv"),
    "a useless column": lambda folder: written(PEOPLE.assign(useless=1), folder / "useless.csv"),
    "one row less": lambda folder: written(PEOPLE.iloc[1:], folder / "less.csv"),
    "Parquet": parquet,
    "days written otherwise": lambda folder: PEOPLE.assign(visit=PEOPLE["visit"].dt.strftime("%d.%m.%Y")),
    "a selection of columns": lambda folder: written(PEOPLE[["age", "region"]], folder / "some.csv"),
    "a DataFrame": lambda folder: PEOPLE,
}


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path / "workspace")
    yield desk
    desk.close()


@pytest.fixture
def spent(desk: Desk, tmp_path: Path) -> Desk:
    """A desk that has spent the whole budget of its people."""
    held = desk.add_table(written(PEOPLE, tmp_path / "first.csv"), DOMAIN, unit=Unit.row(), budget=TOTAL)
    desk.release(desk.plan(held, [Marginals(order=1)], mechanism="laplace", budget=TOTAL))
    return desk


def domain_of(source: Any) -> Domain:
    frame = source if isinstance(source, pd.DataFrame) else pd.DataFrame()
    names = list(frame.columns) if len(frame.columns) else ["age", "region"]
    return Domain((AGE, REGION, *([Booleans(name="ill")] if "ill" in names else [])))


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=4)
@pytest.mark.parametrize("way", WAYS)
def test_the_same_people_have_one_budget(spent: Desk, tmp_path: Path, way: str) -> None:
    source = WAYS[way](tmp_path)
    again = spent.add_table(source, domain_of(source), unit=Unit.row(), budget=TOTAL, name="again")
    assert spent.statement(again).left == 0
    assert spent.account_name(again) == "first"
    plan = spent.plan(again, [Marginals(order=1)], mechanism="laplace", budget=Budget("1/10"))
    with pytest.raises(OutOfBudget):
        spent.release(plan)
    with pytest.raises(OutOfBudget):
        spent.discover(source, {"age": "number"}, unit=Unit.row(), total=TOTAL, part=Budget("1/10"))


@pytest.mark.exhaustive
def test_other_people_have_their_own(spent: Desk, tmp_path: Path) -> None:
    other = spent.add_table(written(drawn(7), tmp_path / "other.csv"), DOMAIN, unit=Unit.row(), budget=TOTAL)
    assert spent.statement(other).spent_share == 0
    assert spent.statement(other).apart == ()


@pytest.mark.exhaustive
def test_bought_suggestions_and_the_table_have_one_budget(desk: Desk, tmp_path: Path) -> None:
    first, second = written(PEOPLE, tmp_path / "one.csv"), written(PEOPLE.iloc[::-1], tmp_path / "two.csv")
    part = Budget("1/2")
    desk.discover(first, {"age": "number", "charge": "number"}, unit=Unit.row(), total=TOTAL, part=part)
    held = desk.add_table(second, DOMAIN, unit=Unit.row(), budget=TOTAL)
    assert desk.statement(held).spent_share == pytest.approx(0.5)


@pytest.mark.exhaustive
def test_keeping_them_apart_needs_a_reason_that_stays(spent: Desk, tmp_path: Path) -> None:
    source = WAYS["one row less"](tmp_path)
    for empty in ("", "  "):
        with pytest.raises(BadParameter, match="kept on record"):
            spent.add_table(source, DOMAIN, unit=Unit.row(), budget=TOTAL, apart=empty)
    reason = "Another clinic, says the board."
    held = spent.add_table(source, DOMAIN, unit=Unit.row(), budget=TOTAL, apart=reason)
    assert spent.statement(held).left > 0
    [kept] = spent.statement(held).apart
    assert (kept.name, kept.reason) == ("first", reason)
    first = next(table for table in spent.tables() if table.name == "first")
    assert [(kept.name, kept.reason) for kept in spent.statement(first).apart] == [("less", reason)]
    assert spent.add_table(source, DOMAIN, unit=Unit.row(), budget=TOTAL).id == held.id, "the file has its account now"
    with spent.ledger.database.read() as connection, pytest.raises(Exception, match="kept"):
        connection.execute("DELETE FROM separation")


@pytest.mark.exhaustive
def test_another_budget_or_unit_is_refused_with_the_way_out(spent: Desk, tmp_path: Path) -> None:
    source = WAYS["one row less"](tmp_path)
    for change in ({"budget": Budget(9)}, {"unit": Unit.row(neighbours="replace")}):
        with pytest.raises(Refused, match=r"account 'first'.*keep this table apart"):
            spent.add_table(source, DOMAIN, **({"unit": Unit.row(), "budget": TOTAL} | change))


@pytest.mark.exhaustive
def test_sketches_are_private_and_a_damaged_one_is_a_sentence(spent: Desk, tmp_path: Path) -> None:
    folder = spent.folder / "sketches"
    assert folder.stat().st_mode & 0o077 == 0
    found = list(folder.iterdir())
    assert len(found) == 2
    assert all(place.stat().st_mode & 0o077 == 0 for place in found)
    next(place for place in found if place.name != "key").write_bytes(b"nonsense")
    with pytest.raises(DeskError, match="damaged"):
        spent.add_table(WAYS["one row less"](tmp_path), DOMAIN, unit=Unit.row(), budget=TOTAL)


@pytest.mark.exhaustive
def test_nothing_of_it_leaves_the_desk(spent: Desk, tmp_path: Path) -> None:
    """The release of a table that shares an account is that of its own file: nothing in it tells of the other."""
    wide = spent.add_table(WAYS["one row less"](tmp_path), DOMAIN, unit=Unit.row(), budget=TOTAL)
    assert "source" in wide.notes
    [entry] = spent.statement(wide).entries
    release = spent.result(entry.plan_id)
    assert release is not None
    assert wide.notes["source"].encode() not in release.zip()
