"""The Data page: where a table comes from, and what may fill its schema."""

from __future__ import annotations

import io
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from core.desk.desk import Desk
from core.mechanisms.discovery.discovery import Discovery
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.schema.domain import Categories, Domain, Integers
from dashboard.views.common import state
from dashboard.views.data import server_path, sources_form
from dashboard.views.data.schema import universe
from tests.dashboard.pages.test_pages import Open, button, choose_unit, edit, errors, field, unit_form, words

ROWS = 9_000
PEOPLE = pd.DataFrame({
    "person_id": range(ROWS),
    "age": [30, 45, 60] * (ROWS // 3),
    "region": ["north", "north", "south"] * (ROWS // 3),
    "width": [1.5, 20.0, 40.0] * (ROWS // 3),
})  # fmt: skip
CSV = PEOPLE.to_csv(index=False).encode()
SHARED = Domain((Integers(name="age", low=0, high=99), Categories(name="region", values=("north", "south"))))


def draft(app: AppTest) -> Any:
    return app.session_state["desk-session"].draft


def line(app: AppTest, name: str) -> dict[str, Any]:
    """One line of the schema's grid."""
    return draft(app).latest.set_index("name").loc[name].to_dict()


def uploaded(app: AppTest, name: str = "people.csv", content: bytes = CSV) -> AppTest:
    app.radio(key="source").set_value(sources_form.UPLOAD).run()
    return app.file_uploader(key="upload").upload(name, content).run()


def database(path: Path, *tables: str) -> Path:
    with duckdb.connect(str(path)) as engine:
        engine.register("people", PEOPLE)
        for table in tables:
            engine.execute(f'CREATE TABLE "{table}" AS SELECT * FROM people')
        engine.execute("CREATE VIEW outlook AS SELECT 1 AS one")
    return path


@pytest.fixture
def allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the server that may be read."""
    folder = tmp_path / "allowed"
    folder.mkdir()
    monkeypatch.setenv(server_path.VARIABLE, str(folder))
    return folder


def typed_path(app: AppTest, path: object) -> AppTest:
    app.radio(key="source").set_value(sources_form.PATH).run()
    return app.text_input(key="server-path").set_value(str(path)).run()


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=1)
@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet"])
def test_uploads_of_every_kind(page: Open, desk: Desk, kind: str) -> None:
    target = io.BytesIO()
    if kind == "parquet":
        PEOPLE.to_parquet(target)
    else:
        PEOPLE.to_csv(target, index=False, sep="," if kind == "csv" else "\t")
    app = uploaded(page(), f"people.{kind}", target.getvalue())
    assert [name for name, _ in draft(app).columns] == list(PEOPLE)
    assert not line(app, "person_id")["include"]
    assert line(app, "age")["high"] == "120"
    assert line(app, "age")["note"] == "suggested by its name; check it"


@pytest.mark.exhaustive
def test_uploaded_database_with_several_tables(page: Open, desk: Desk, tmp_path: Path) -> None:
    content = database(tmp_path / "x.duckdb", "people", "staff").read_bytes()
    app = uploaded(page(), "shop.duckdb", content)
    assert not draft(app).columns
    [tables] = [box for box in app.selectbox if box.label == "Table or sheet in the file"]
    assert tables.options == ["people", "staff"]
    tables.set_value("staff").run()
    edit(choose_unit(app, unit_form.ROW), {2: {"values": "north | south"}})
    button(app, "Open this table").click().run()
    assert not errors(app)
    [table] = desk.tables()
    assert (table.name, table.notes["rows"]) == ("staff", ROWS)
    assert list((desk.folder / "incoming").glob("*")) == []


@pytest.mark.exhaustive
def test_database_with_one_table_or_none(page: Open, tmp_path: Path) -> None:
    app = uploaded(page(), "one.duckdb", database(tmp_path / "one.duckdb", "people").read_bytes())
    assert draft(app).table == "people"
    assert draft(app).columns
    app = uploaded(page(), "none.duckdb", database(tmp_path / "none.duckdb").read_bytes())
    assert "has no tables" in errors(app)[0]


@pytest.mark.exhaustive
def test_path_on_the_server(page: Open, desk: Desk, allowed: Path) -> None:
    (allowed / "people.csv").write_bytes(CSV)
    app = typed_path(page(), allowed / "people.csv")
    edit(choose_unit(app, unit_form.ROW), {2: {"values": "north | south"}, 3: {"include": False}})
    button(app, "Open this table").click().run()
    assert not errors(app)
    assert desk.tables()[0].name == "people"
    assert not (desk.folder / "incoming").exists()


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=2)
@pytest.mark.parametrize("path", ["{}/../outside.csv", "{}/link.csv", "/etc/passwd", "\0", "{}/nothing.csv"])
def test_paths_outside_are_refused(page: Open, allowed: Path, path: str) -> None:
    (allowed.parent / "outside.csv").write_bytes(CSV)
    (allowed / "link.csv").symlink_to(allowed.parent / "outside.csv")
    app = typed_path(page(), path.format(allowed))
    [error] = errors(app)
    assert ("no such file" if "nothing" in path else "no path" if path == "\0" else "outside the folders") in error
    assert not draft(app).columns


@pytest.mark.exhaustive
def test_path_that_becomes_a_link_is_refused(page: Open, desk: Desk, allowed: Path) -> None:
    (allowed / "people.csv").write_bytes(CSV)
    app = typed_path(page(), "people.csv")
    edit(choose_unit(app, unit_form.ROW), {2: {"values": "north | south"}, 3: {"include": False}})
    (allowed.parent / "outside.csv").write_bytes(CSV)
    (allowed / "people.csv").unlink()
    (allowed / "people.csv").symlink_to(allowed.parent / "outside.csv")
    button(app, "Open this table").click().run()
    assert any("outside the folders" in error for error in errors(app))
    assert desk.tables() == []


def test_paths_are_off_unless_allowed(page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(server_path.VARIABLE, raising=False)
    app = page()
    app.radio(key="source").set_value(sources_form.PATH).run()
    assert server_path.OFF in words(app)
    assert not draft(app).columns


def test_paths_are_never_allowed_in_demo_mode(allowed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (allowed / "people.csv").write_bytes(CSV)
    assert server_path.allowed("people.csv") == (allowed / "people.csv").resolve()
    monkeypatch.setenv("RELEASE_DESK_DEMO", "1")
    with pytest.raises(server_path.Refused, match="switched off"):
        server_path.allowed("people.csv")


@pytest.mark.exhaustive
def test_changing_the_way_forgets_what_was_chosen(page: Open, allowed: Path) -> None:
    app = uploaded(page())
    assert draft(app).columns
    app.radio(key="source").set_value(sources_form.PATH).run()
    assert not draft(app).columns
    assert draft(app).file is None
    typed_path(app, "/etc/passwd")
    app.radio(key="source").set_value(sources_form.UPLOAD).run()
    assert not errors(app), "a problem belongs to the way on which it arose"


@pytest.mark.exhaustive
def test_pasted_code_book(page: Open) -> None:
    app = uploaded(page())
    edit(app, {3: {"include": False}})
    book = "variable,min,max,levels,source\nage,18,99,,form A\nregion,,,north|south,\nshoe,30,50,,\nperson_id,1,9,,"
    app.text_area(key="codebook-text").set_value(book)
    button(app, "Use it").click().run()
    assert not errors(app)
    assert (line(app, "age")["low"], line(app, "age")["note"]) == ("18", "form A")
    assert (line(app, "region")["values"], line(app, "region")["note"]) == ("north | south", "from the code book")
    assert not line(app, "width")["include"], "ticks stay as they were"
    assert not line(app, "person_id")["include"]
    assert r"3 columns described by the code book\. Left as they were\: width\. 1 line of" in words(app)


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=1)
@pytest.mark.parametrize(
    ("book", "sentence"),
    [
        (b"name,low\nage,ten", "Code book, line 2, column 'low': must be a number"),
        (b"name,low,high\nshoe,1,2", "describes no column of this table"),
        (b"\xff\xfe", "not UTF-8"),
    ],
)
def test_bad_code_book_changes_nothing(page: Open, book: bytes, sentence: str) -> None:
    app = uploaded(page())
    before = draft(app).latest
    app.file_uploader(key="codebook-file").upload("book.csv", book).run()
    assert any(sentence in error for error in errors(app))
    pd.testing.assert_frame_equal(draft(app).latest, before)


@pytest.mark.exhaustive
def test_public_sample(page: Open, desk: Desk) -> None:
    app = uploaded(page())
    sample = b"age,region,width,unrelated\n20,east,0.5,1\n80,west,9.5,2\n"
    assert app.file_uploader(key="sample-file").disabled
    assert "must be public" in words(app)
    app.checkbox(key="sample-public").check().run()
    app.file_uploader(key="sample-file").upload("sample.csv", sample).run()
    assert not errors(app)
    assert (line(app, "age")["low"], line(app, "age")["high"]) == ("20", "80")
    assert line(app, "region")["values"] == "east | west"
    assert line(app, "width")["note"] == "read from a public sample"
    assert list((desk.folder / "incoming").glob("*")) == []


@pytest.mark.exhaustive
def test_the_table_itself_is_no_public_sample(page: Open) -> None:
    app = uploaded(page())
    app.checkbox(key="sample-public").check().run()
    app.file_uploader(key="sample-file").upload("sample.csv", CSV).run()
    assert any("private table itself" in error for error in errors(app))
    assert line(app, "region")["values"] == ""


@pytest.mark.exhaustive
def test_bought_suggestions(page: Open, desk: Desk) -> None:
    app = uploaded(page())
    assert "Choose first whose privacy" in words(app)
    choose_unit(app, unit_form.ROW)
    [columns] = [box for box in app.multiselect if box.label == "Columns"]
    assert columns.value == ["region", "width"], "what has no categories yet"
    edit(app, {3: {"kind": "reals", "low": "0", "high": "1", "bins": 4}})
    field(app, "Epsilon (ε) for these suggestions").set_value("1").run()
    assert "of the total budget. To be found, a category needs about" in words(app)
    assert desk.ledger.entries() == []
    button(app, "Buy suggestions").click().run()
    assert not errors(app)
    assert line(app, "region")["values"] == "north | south"
    assert (line(app, "width")["low"], line(app, "width")["high"]) == ("1", "50")
    assert line(app, "width")["note"] == "bought with ε = 1 of the budget"
    [entry] = desk.ledger.entries()
    button(app, "Buy suggestions").click().run()
    assert desk.ledger.entries() == [entry], "the same survey is not paid for twice"

    button(app, "Open this table").click().run()
    assert not errors(app)
    [table] = desk.tables()
    assert desk.statement(table).spent_share > 0
    assert list((desk.folder / "incoming").glob("*")) == []


@pytest.mark.exhaustive
def test_more_than_is_left_buys_nothing(page: Open, desk: Desk) -> None:
    def wanted(epsilon: str) -> AppTest:
        return field(app, "Epsilon (ε) for these suggestions").set_value(epsilon).run()

    app = choose_unit(uploaded(page()), unit_form.ROW)
    assert button(wanted("3"), "Buy suggestions").disabled
    assert "Costs 2" in words(app)
    assert button(wanted("lots"), "Buy suggestions").disabled
    assert any(error.startswith("Epsilon") for error in errors(app))
    button(wanted("1.6"), "Buy suggestions").click().run()
    button(wanted("1.7"), "Buy suggestions").click().run()
    assert any("nothing was spent" in error for error in errors(app))
    assert len(desk.ledger.entries()) == 1


@pytest.mark.exhaustive
def test_too_small_a_slice_says_so(page: Open, desk: Desk) -> None:
    app = choose_unit(uploaded(page()), unit_form.ROW)
    field(app, "Epsilon (ε) for these suggestions").set_value("0.001").run()
    button(app, "Buy suggestions").click().run()
    assert "Nothing stood out of the noise for region" in words(app)
    assert line(app, "region")["values"] == ""


@pytest.mark.exhaustive
def test_nothing_is_read_off_the_data_unless_it_is_bought(page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the table is opened or something is bought, not one value leaves the file."""

    def forbidden(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("core.table.formats.duckdb_rows.DuckRows.take", forbidden)
    monkeypatch.setattr(Discovery, "run", forbidden)
    app = choose_unit(uploaded(page()), unit_form.ROW)
    edit(app, {2: {"values": "north | south"}, 3: {"include": False}})
    app.text_area(key="codebook-text").set_value("name,low,high\nage,0,99")
    button(app, "Use it").click().run()
    assert not errors(app)
    assert not button(app, "Open this table").disabled


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
    assert "too many to count each one, so a release describes tables over a few columns" in words(page())
    small = Domain.from_list([{"name": "age", "kind": "integers", "low": 0, "high": 9}])
    assert "small enough to count each one" in universe.size(small)


@pytest.mark.exhaustive
def test_useless_column_on_the_page(page: Open) -> None:
    app = edit(choose_unit(page()), {2: {"low": "5", "high": "5", "bins": 1}, 11: {"include": True, "values": "1 | 2"}})
    told = [warning.value for warning in app.warning]
    assert any("'age' has one cell only" in warning for warning in told)
    assert any(r"'patient\_id' holds the ids" in warning for warning in told)


@pytest.mark.exhaustive
def test_the_same_rows_share_an_account_unless_a_reason_is_given(page: Open, desk: Desk) -> None:
    first = desk.add_table(PEOPLE, SHARED, unit=Unit.row(), budget=Budget(2, "1e-9"), name="first")
    again = desk.add_table(PEOPLE.iloc[1:], SHARED, unit=Unit.row(), budget=Budget(2, "1e-9"), name="again")
    assert desk.same_account(first, again)
    said = words(page("budget"))
    assert "This is the account 'first', with 'first'" in said.replace("\\", "")
    app = page()
    share = next(found for found in app.checkbox if found.label.startswith("Rows that are at this desk"))
    assert share.value
    choose_unit(app)
    assert not button(app, "Open this table").disabled
    share.uncheck().run()
    assert button(app, "Open this table").disabled
    field(app, "Why these are other people").set_value("Another clinic.").run()
    assert not button(app, "Open this table").disabled
    kept = desk.add_table(PEOPLE.iloc[2:], SHARED, unit=Unit.row(), budget=Budget(2, "1e-9"), apart="Another clinic.")
    assert not desk.same_account(first, kept)
    assert "Another clinic" in words(page("budget"))


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


@pytest.mark.exhaustive
def test_the_same_file_again_offers_its_schema(page: Open, desk: Desk) -> None:
    content = b"sex,age\n" + b"F,30\nM,40\n" * 30
    first = uploaded(page("data"), content=content)
    assert "described before" not in words(first)
    choose_unit(first, unit_form.ROW)
    button(first, "Open this table").click().run()
    assert "described before" not in words(first), "it is the one on the page"
    again = uploaded(page("data"), content=content)
    button(again, "Use that schema").click().run()
    assert "2 columns described as in" in words(again) and "described before" not in words(again)
    assert line(again, "sex")["values"] == "F | M"


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


@pytest.mark.exhaustive
def test_the_first_visit_is_told_what_this_is_and_three_ways_in(page: Open, desk: Desk) -> None:
    app = page("data")
    assert "nothing about any person in it" in words(app)
    button(app, "Bring your own file").click().run()
    assert app.radio(key="source").value == sources_form.UPLOAD
    desk.add_table(PEOPLE, SHARED, unit=Unit.row(), budget=Budget(1))
    assert "nothing about any person in it" not in words(page("data"))


@pytest.mark.exhaustive
def test_a_table_is_renamed_put_away_and_brought_back(page: Open, desk: Desk) -> None:
    held = desk.add_table(PEOPLE, SHARED, unit=Unit.row(), budget=Budget(1), name="people")
    app = page("data")
    app.text_input(key=f"label-{held.id}").set_value("Census 2026")
    app.button(key=f"rename-{held.id}").click().run()
    assert desk.tables()[0].name == "Census 2026"
    app.button(key=f"archive-{held.id}").click().run()
    assert desk.tables() == [] and not errors(app)
    app.button(key=f"restore-{held.id}").click().run()
    assert [table.id for table in desk.tables()] == [held.id]


@pytest.mark.exhaustive
def test_a_file_that_comes_again_finds_its_schema(page: Open, desk: Desk) -> None:
    desk.add_table(PEOPLE, SHARED, unit=Unit.row(), budget=Budget(1), name="people")
    app = uploaded(page("data"))
    button(app, "Use its schema").click().run()
    assert (line(app, "age")["high"], line(app, "region")["values"]) == ("99", "north | south")
    assert not line(app, "width")["include"] and "described as in 'people'" in draft(app).told
    other = uploaded(page("data"), content=b"size\n1\n")
    assert "Use its schema" not in [found.label for found in other.button]


@pytest.mark.exhaustive
def test_letters_and_decimal_sign_of_a_text_file_are_said_never_guessed(page: Open, desk: Desk) -> None:
    content = ("größe;alter\n" + "1,5;30\n1.234,5;40\n" * 20).encode("latin-1")
    app = uploaded(page("data"), content=content)
    assert "not UTF-8" in errors(app)[0] and not draft(app).columns
    app.selectbox(key="text-encoding").set_value(list(sources_form.ENCODINGS)[1]).run()
    assert list(draft(app).latest["name"]) == ["größe", "alter"]
    app.selectbox(key="text-decimal").set_value(list(sources_form.DECIMALS)[1]).run()
    real = {"kind": "reals", "low": "0", "high": "2000", "bins": 2000}
    edit(app, {0: real, 1: {"kind": "integers", "low": "0", "high": "99"}})
    choose_unit(app, unit_form.ROW)
    button(app, "Open this table").click().run()
    assert desk.tables()[0].notes["misfits"] == {"größe": 0, "alter": 0}
    assert desk.truth(desk.tables()[0]).marginal(("größe",))[[1, 1234]].tolist() == [20, 20]


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=1)
@pytest.mark.parametrize("kind", ["xlsx", "sqlite"])
def test_sheets_and_tables_of_other_programs(page: Open, desk: Desk, tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"people.{kind}"
    if kind == "xlsx":
        with pd.ExcelWriter(path) as book:
            PEOPLE.to_excel(book, sheet_name="People", index=False)
    else:
        with closing(sqlite3.connect(path)) as engine:
            PEOPLE.to_sql("People", engine, index=False)
    app = uploaded(page(), path.name, path.read_bytes())
    assert draft(app).table == "People"
    assert [name for name, _ in draft(app).columns] == list(PEOPLE)
    edit(choose_unit(app, unit_form.ROW), {2: {"values": "north | south"}, 3: {"include": False}})
    button(app, "Open this table").click().run()
    assert not errors(app)
    assert (desk.tables()[0].name, desk.tables()[0].notes["rows"]) == ("People", ROWS)
    assert list((desk.folder / "incoming").glob("*")) == []


@pytest.mark.exhaustive
def test_a_folder_of_parquet_files(page: Open, desk: Desk, allowed: Path) -> None:
    (allowed / "years").mkdir()
    for year in (2023, 2024):
        PEOPLE.to_parquet(allowed / "years" / f"{year}.parquet")
    app = typed_path(page(), allowed / "years" / "20*.parquet")
    edit(choose_unit(app, unit_form.ROW), {2: {"values": "north | south"}, 3: {"include": False}})
    button(app, "Open this table").click().run()
    assert not errors(app)
    assert desk.tables()[0].notes["rows"] == 2 * ROWS
    PEOPLE.to_parquet(allowed.parent / "outside.parquet")
    (allowed / "years" / "2025.parquet").symlink_to(allowed.parent / "outside.parquet")
    app = typed_path(page(), allowed / "years")
    assert any("outside the folders" in error for error in errors(app))


@pytest.mark.exhaustive
def test_bins_are_proposed_from_bounds(page: Open) -> None:
    app = edit(uploaded(page()), {1: {"low": "0", "high": "99999"}})
    button(app, "Propose bins").click().run()
    assert line(app, "age")["bins"] == 100
    assert "Bins proposed for age" in words(app)
    button(app, "Propose bins").click().run()
    assert "Every range has bins already" in words(app)


@pytest.mark.exhaustive
def test_tables_of_the_same_name_are_told_apart(page: Open, desk: Desk) -> None:
    """A schema that was corrected within the minute makes a second table, which pages must not take for the first."""
    for bins in (None, 10):
        domain = Domain((Integers(name="age", low=0, high=99, bins=bins),))
        desk.add_table(PEOPLE, domain, unit=Unit.row(), budget=Budget(1), name="people")
    tables = desk.tables()
    assert len(set(state.table_labels(tables).values())) == 2
    app = page("budget")
    app.selectbox[0].select_index(1).run()
    assert app.session_state["desk-session"].table == tables[1].id


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
    assert "Invented rows of a usual shape" in words(app)
    assert "95 % of the time" in words(app)
    assert not errors(app)
