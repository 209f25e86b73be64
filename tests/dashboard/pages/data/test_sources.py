"""The Data page: where a table comes from."""

from __future__ import annotations

import io
import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from core.desk.desk import Desk
from dashboard.views.data import server_path, sources_form, text_form, unit_form
from tests.dashboard.pages.kit.data_page import CSV, PEOPLE, ROWS, choose_unit, draft, edit, line, uploaded
from tests.dashboard.pages.kit.elements import Open, button, errors, words


def database(path: Path, *tables: str) -> Path:
    with duckdb.connect(str(path)) as engine:
        engine.register("people", PEOPLE)
        for table in tables:
            engine.execute(f'CREATE TABLE "{table}" AS SELECT * FROM people')
        engine.execute("CREATE VIEW outlook AS SELECT 1 AS one")
    return path


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
def test_letters_and_decimal_sign_of_a_text_file_are_said_never_guessed(page: Open, desk: Desk) -> None:
    content = ("größe;alter\n" + "1,5;30\n1.234,5;40\n" * 20).encode("latin-1")
    app = uploaded(page("data"), content=content)
    assert "not UTF-8" in errors(app)[0] and not draft(app).columns
    app.selectbox(key="text-encoding").set_value(list(text_form.ENCODINGS)[1]).run()
    # Another session of the same curator: the fields say how the file is read, and a change loses nothing of it.
    again = button(page("data"), "Go on with it").click().run()
    assert again.selectbox(key="text-encoding").value == list(text_form.ENCODINGS)[1]
    again.selectbox(key="text-decimal").set_value(list(text_form.DECIMALS)[1]).run()
    assert list(draft(again).latest["name"]) == ["größe", "alter"] and draft(again).written == ("latin-1", ",")
    assert list(draft(app).latest["name"]) == ["größe", "alter"]
    app.selectbox(key="text-decimal").set_value(list(text_form.DECIMALS)[1]).run()
    real = {"kind": "reals", "low": "0", "high": "2000", "bins": 2000}
    edit(app, {0: real, 1: {"kind": "integers", "low": "0", "high": "99"}})
    choose_unit(app, unit_form.ROW)
    button(app, "Open this table").click().run()
    assert desk.tables()[0].notes["misfits"] == {"größe": 0, "alter": 0}
    assert desk.truth(desk.tables()[0]).marginal(("größe",))[[1, 1234]].tolist() == [20, 20]


@pytest.mark.exhaustive
def test_a_path_is_offered_again_once_something_was_said_of_it(page: Open, allowed: Path) -> None:
    (allowed / "people.csv").write_bytes(CSV)
    app = typed_path(page(), allowed / "people.csv")
    assert "You began to describe" not in words(page()), "it is soon typed again"
    assert "Kept as a draft" not in words(app)
    choose_unit(app, unit_form.ROW)
    assert "Kept as a draft" in words(app.run())
    again = button(page(), "Go on with it").click().run()
    assert again.text_input(key="server-path").value == str(allowed / "people.csv")
    assert draft(again).columns == draft(app).columns


@pytest.mark.exhaustive
def test_what_was_taken_back_is_not_offered_again(page: Open, allowed: Path) -> None:
    (allowed / "people.csv").write_bytes(CSV)
    app = edit(typed_path(page(), allowed / "people.csv"), {1: {"high": "77"}})
    assert line(button(page(), "Go on with it").click().run(), "age")["high"] == "77"
    edit(app, {})
    again = button(page(), "Go on with it").click().run()
    assert line(again, "age")["high"] == line(app, "age")["high"] != "77"
    edit(edit(again, {1: {"high": "66"}}), {})
    assert line(button(page(), "Go on with it").click().run(), "age")["high"] == line(app, "age")["high"]


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
    assert "text-encoding" not in [each.key for each in app.selectbox], "it says itself how it is written"
    assert [name for name, _ in draft(app).columns] == list(PEOPLE)
    edit(choose_unit(app, unit_form.ROW), {2: {"values": "north | south"}, 3: {"include": False}})
    button(app, "Open this table").click().run()
    assert not errors(app)
    assert (desk.tables()[0].name, desk.tables()[0].notes["rows"]) == ("People", ROWS)
    assert list((desk.folder / "incoming").glob("*")) == []


@pytest.mark.parametrize("sheet", ["Sheet1", "Tabelle1", "Sheet"])
def test_a_sheet_that_nobody_has_named_takes_the_name_of_the_file(page: Open, tmp_path: Path, sheet: str) -> None:
    path = tmp_path / "census.xlsx"
    with pd.ExcelWriter(path) as book:
        PEOPLE.head(9).to_excel(book, sheet_name=sheet, index=False)
    app = uploaded(page(), path.name, path.read_bytes())
    assert (draft(app).table, draft(app).name) == (sheet, "census")
    assert [name for name, _ in draft(app).columns] == list(PEOPLE)


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
    assert desk.tables()[0].name == "years", "a pattern is no name"
    PEOPLE.to_parquet(allowed.parent / "outside.parquet")
    (allowed / "years" / "2025.parquet").symlink_to(allowed.parent / "outside.parquet")
    app = typed_path(page(), allowed / "years")
    assert any("outside the folders" in error for error in errors(app))
