"""The Data page: what is typed into a schema, and what is said about it."""

from __future__ import annotations

from typing import Any

import pytest

from core.desk.desk import Desk
from core.schema.domain import Domain
from core.schema.guesses import BY_NAME, BY_TYPE
from dashboard.views.data import unit_form
from dashboard.views.data.schema import bulk_edit, universe
from tests.dashboard.pages.kit.data_page import PEOPLE, choose_unit, demo, draft, edit, line, uploaded
from tests.dashboard.pages.kit.elements import Open, button, errors, words


@pytest.mark.exhaustive
def test_bad_schema_names_the_column(page: Open) -> None:
    app = choose_unit(page())
    edit(app, {2: {"low": "120"}})
    assert errors(app) == ["1 mistake in the grid:\n- Column 'age' has a low bound above its high bound\\."]
    assert button(app, "Open this table").disabled


@pytest.mark.parametrize(
    ("column", "sentence"),
    [
        ({"name": "x", "kind": "integers", "low": 3, "high": 3}, "has one cell only"),
        ({"name": "x", "kind": "categories", "values": ["a"], "other": "other"}, "lists one category only"),
        ({"name": "x", "kind": "integers", "low": 0, "high": 200_000}, "has 200,001 cells"),
        ({"name": "x_id", "kind": "booleans"}, "is named like an id"),
        ({"name": "who", "kind": "booleans"}, "holds the ids"),
        ({"name": "x", "kind": "booleans"}, ""),
    ],
)
def test_useless_columns_are_pointed_out(column: dict[str, Any], sentence: str) -> None:
    [attribute] = Domain.from_list([column])
    found = list(universe.doubts(attribute, "who"))
    assert len(found) == (1 if sentence else 0)
    assert sentence in "".join(found)


def test_the_size_of_the_universe_in_words(page: Open) -> None:
    assert "too many to count each one, so a release describes tables over a few columns" in words(demo(page()))
    small = Domain.from_list([{"name": "age", "kind": "integers", "low": 0, "high": 9}])
    assert "small enough to count each one" in universe.size(small)
    middle = Domain.from_list([{"name": name, "kind": "integers", "low": 0, "high": 999} for name in ("a", "b")])
    assert "mostly noise" in universe.size(middle)


@pytest.mark.exhaustive
def test_useless_column_on_the_page(page: Open) -> None:
    app = edit(choose_unit(page()), {2: {"low": "5", "high": "5", "bins": 1}, 11: {"include": True, "values": "1 | 2"}})
    told = [warning.value for warning in app.warning]
    assert any("'age' has one cell only" in warning for warning in told)
    assert any(r"'patient\_id' holds the ids" in warning for warning in told)


@pytest.mark.exhaustive
def test_a_file_with_an_unnamed_index_and_a_name_twice_opens(page: Open, desk: Desk) -> None:
    written = PEOPLE[["age"]].head(50).to_csv().replace("age", "age,age", 1).replace("\n0,30", "\n0,30,1", 1)
    lines = written.splitlines()
    content = "\n".join([lines[0], *(f"{line},7" if line.count(",") == 1 else line for line in lines[1:])])
    app = uploaded(page("data"), content=content.encode())
    assert list(draft(app).latest["name"]) == ["column_1", "column_2", "column_3"]
    number = {"include": True, "kind": "integers", "low": "0", "high": "99"}
    assert list(draft(app).latest["include"]) == [False, False, False]
    edit(app, {1: number, 2: number})
    choose_unit(app, unit_form.ROW)
    button(app, "Open this table").click().run()
    assert (
        desk.tables()[0].domain.names == ("column_2", "column_3") and not desk.tables()[0].notes["misfits"]["column_2"]
    )


@pytest.mark.exhaustive
def test_many_moved_cells_are_a_warning_in_red(page: Open, desk: Desk) -> None:
    content = "sex,age\n" + "male,30\nfemale,40\n" * 30
    app = uploaded(page("data"), content=content.encode())
    choose_unit(app, unit_form.ROW)
    button(app, "Open this table").click().run()
    assert any("many cells of 'sex' do not fit" in told for told in errors(app)) and not app.success
    assert "'age'" not in "".join(errors(app))
    [moved] = [table.value for table in app.table]
    assert moved["Look at"].tolist() == [
        "spelling and capitals of the categories; empty cells, unless 'Missing?' is ticked"
    ]


@pytest.mark.exhaustive
def test_several_columns_set_at_once_on_the_page(page: Open) -> None:
    app = uploaded(page("data"))
    app.multiselect(key="bulk-columns").set_value(["age", "width"])
    app.selectbox(key="bulk-kind").set_value("integers")
    app.text_input(key="bulk-low").set_value("0")
    app.text_input(key="bulk-high").set_value("99")
    app.text_input(key="bulk-bins").set_value("many")
    app.button(key="bulk-set").click().run()
    assert errors(app)[0] == "Bins must be a whole number\\."
    app.text_input(key="bulk-bins").set_value("10")
    app.button(key="bulk-set").click().run()
    assert {name: (line(app, name)["kind"], line(app, name)["bins"]) for name in ("age", "width")} == {
        "age": ("integers", 10),
        "width": ("integers", 10),
    }
    # The next group starts with nothing chosen: it must not set the columns of the last one again.
    assert app.multiselect(key="bulk-columns").value == []
    assert app.selectbox(key="bulk-kind").value == bulk_edit.LEAVE
    app.multiselect(key="bulk-columns").set_value(["region"])
    app.text_input(key="bulk-values").set_value("north | south")
    app.button(key="bulk-set").click().run()
    assert (line(app, "age")["kind"], line(app, "age")["values"]) == ("integers", "")
    assert (line(app, "region")["kind"], line(app, "region")["values"]) == ("categories", "north | south")


@pytest.mark.exhaustive
def test_what_the_curator_says_in_place_of_a_guess_is_published_as_none(page: Open) -> None:
    app = edit(uploaded(page()), {1: {"high": "99"}, 3: {"bins": 50}})
    assert (line(app, "age")["note"], line(app, "width")["note"]) == ("", BY_TYPE)
    edit(app, {1: {"high": "120"}})
    assert line(app, "age")["note"] == BY_NAME, "and is one again where it was taken back"


@pytest.mark.exhaustive
def test_bins_are_proposed_from_bounds(page: Open) -> None:
    app = edit(uploaded(page()), {1: {"low": "0", "high": "99999"}})
    button(app, "Propose bins").click().run()
    assert line(app, "age")["bins"] == 100
    assert "Bins proposed for age" in words(app)
    button(app, "Propose bins").click().run()
    assert "Every range has bins already" in words(app)


@pytest.mark.exhaustive
def test_decimals_are_missed_and_proposed(page: Open) -> None:
    described = {1: {"kind": "reals", "low": "0", "high": "20000", "bins": 20}, 2: {"values": "north | south"}}
    app = edit(uploaded(page()), {**described, 3: {"include": False}})
    assert "Released values of 'age' will have some 15 digits" in words(app)
    button(app, "Propose bins").click().run()
    assert line(app, "age")["decimals"] == 0 and "Decimals proposed for age" in words(app)
    assert "15 digits" not in words(app)


@pytest.mark.exhaustive
def test_bins_are_shown_with_their_errors_on_invented_rows(
    page: Open, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    described = {2: {"values": "north | south"}, 3: {"include": False}}
    app = edit(choose_unit(uploaded(page()), unit_form.ROW), described)
    monkeypatch.setattr("core.table.formats.duckdb_rows.DuckRows.take", None)  # no row can be read from here on
    assert not app.get("plotly_chart")
    app.toggle(key="preview-bins").set_value(True).run()
    app.selectbox(key="preview-part").set_value("a hundredth of it").run()
    app.selectbox(key="preview-column").set_value("region").run()
    assert "Invented rows, not the table's" in words(app)
    assert "95 % of the time" in words(app)
    assert not errors(app)
