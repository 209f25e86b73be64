"""Columns that the curator named: the same rows and the same account as under the names of the file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.base.errors import BadParameter
from core.desk.desk import Desk
from core.privacy.budget import Budget
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.schema.domain import Domain
from core.table.formats.renamed import Renamed
from core.table.table import Table, inspect


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """An index without a name, and a name twice."""
    lines = [f"{place},{place % 90},{place % 7},x" for place in range(400)]
    place = tmp_path / "people.csv"
    place.write_text("\n".join([",age,mark,mark", *lines]), encoding="utf-8")
    return place


def domain(name: str, age: str = "age") -> Domain:
    ages = {"name": age, "kind": "integers", "low": 0, "high": 89}
    return Domain.from_list([ages, {"name": name, "kind": "integers", "low": 0, "high": 6}])


def test_a_named_column_holds_what_the_numbered_one_held(path: Path) -> None:
    named = Renamed(path, (("column_1", "person"), ("column_3", "grade")))
    assert [column.name for column in inspect(named)] == ["person", "age", "grade", "column_4"]
    unit = Unit(column="person", limit=1)
    table = Table.load(named, domain("grade"), unit, Noise())
    before = Table.load(path, domain("column_3"), Unit(column="column_1", limit=1), Noise())
    np.testing.assert_array_equal(np.sort(table.codes["grade"]), np.sort(before.codes["column_3"]))
    assert table.fingerprint == before.fingerprint
    assert table.layout == ("age", "grade")


@pytest.mark.exhaustive
def test_other_names_open_no_other_account(path: Path, tmp_path: Path) -> None:
    """Neither for the same file nor for its rows in another order, where the sketch alone tells."""
    _, *lines = path.read_text(encoding="utf-8").splitlines()
    bare, turned = tmp_path / "bare.csv", tmp_path / "turned.csv"
    bare.write_text("\n".join([",,,", *lines]), encoding="utf-8")
    turned.write_text("\n".join([",,,", *reversed(lines)]), encoding="utf-8")
    numbered = domain("column_3", age="column_2")
    desk = Desk(tmp_path / "home")
    first = desk.add_table(bare, numbered, unit=Unit.row(), budget=Budget(1))
    for source in (bare, turned):
        named = Renamed(source, (("column_2", "age"), ("column_3", "grade")))
        again = desk.add_table(named, domain("grade"), unit=Unit.row(), budget=Budget(1))
        assert desk.account_name(again) == first.name
    desk.close()


@pytest.mark.parametrize(
    "names", [(("column_3", " "),), (("column_3", "a"), ("column_4", "a")), (("a", "b"), ("a", "c"))]
)
def test_names_must_tell_columns_apart(path: Path, names: tuple[tuple[str, str], ...]) -> None:
    with pytest.raises(BadParameter, match="names"):
        Renamed(path, names)


def test_a_name_that_is_taken_is_refused(path: Path) -> None:
    with pytest.raises(BadParameter, match="'age'"):
        inspect(Renamed(path, (("column_3", "age"),)))
    with pytest.raises(BadParameter, match="already"):
        Renamed(Renamed(path, (("column_3", "grade"),)), (("column_4", "rest"),))
