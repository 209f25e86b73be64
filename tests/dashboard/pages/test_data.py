"""The Data page: where a table comes from, and what may fill its schema."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from core.desk.desk import Desk
from core.mechanisms.discovery.discovery import Discovery
from core.schema.domain import Domain
from dashboard.views.data import server_path, sources_form, universe
from tests.dashboard.pages.test_pages import Open, button, choose_unit, edit, errors, field, unit_form, words

ROWS = 9_000
PEOPLE = pd.DataFrame({
    "person_id": range(ROWS),
    "age": [30, 45, 60] * (ROWS // 3),
    "region": ["north", "north", "south"] * (ROWS // 3),
    "width": [1.5, 20.0, 40.0] * (ROWS // 3),
})  # fmt: skip
CSV = PEOPLE.to_csv(index=False).encode()


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


def test_uploaded_database_with_several_tables(page: Open, desk: Desk, tmp_path: Path) -> None:
    content = database(tmp_path / "x.duckdb", "people", "staff").read_bytes()
    app = uploaded(page(), "shop.duckdb", content)
    assert not draft(app).columns
    [tables] = [box for box in app.selectbox if box.label == "Table in the database"]
    assert tables.options == ["people", "staff"]
    tables.set_value("staff").run()
    edit(choose_unit(app, unit_form.ROW), {2: {"values": "north | south"}})
    button(app, "Open this table").click().run()
    assert not errors(app)
    [table] = desk.tables()
    assert (table.name, table.notes["rows"]) == ("staff", ROWS)
    assert list((desk.folder / "incoming").glob("*")) == []


def test_database_with_one_table_or_none(page: Open, tmp_path: Path) -> None:
    app = uploaded(page(), "one.duckdb", database(tmp_path / "one.duckdb", "people").read_bytes())
    assert draft(app).table == "people"
    assert draft(app).columns
    app = uploaded(page(), "none.duckdb", database(tmp_path / "none.duckdb").read_bytes())
    assert "has no tables" in errors(app)[0]


def test_path_on_the_server(page: Open, desk: Desk, allowed: Path) -> None:
    (allowed / "people.csv").write_bytes(CSV)
    app = typed_path(page(), allowed / "people.csv")
    edit(choose_unit(app, unit_form.ROW), {2: {"values": "north | south"}, 3: {"include": False}})
    button(app, "Open this table").click().run()
    assert not errors(app)
    assert desk.tables()[0].name == "people"
    assert not (desk.folder / "incoming").exists()


@pytest.mark.crossing(keep=2)
@pytest.mark.parametrize("path", ["{}/../outside.csv", "{}/link.csv", "/etc/passwd", "\0", "{}/nothing.csv"])
def test_paths_outside_are_refused(page: Open, allowed: Path, path: str) -> None:
    (allowed.parent / "outside.csv").write_bytes(CSV)
    (allowed / "link.csv").symlink_to(allowed.parent / "outside.csv")
    app = typed_path(page(), path.format(allowed))
    [error] = errors(app)
    assert ("no such file" if "nothing" in path else "no path" if path == "\0" else "outside the folders") in error
    assert not draft(app).columns


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


def test_the_table_itself_is_no_public_sample(page: Open) -> None:
    app = uploaded(page())
    app.checkbox(key="sample-public").check().run()
    app.file_uploader(key="sample-file").upload("sample.csv", CSV).run()
    assert any("private table itself" in error for error in errors(app))
    assert line(app, "region")["values"] == ""


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


def test_too_small_a_slice_says_so(page: Open, desk: Desk) -> None:
    app = choose_unit(uploaded(page()), unit_form.ROW)
    field(app, "Epsilon (ε) for these suggestions").set_value("0.001").run()
    button(app, "Buy suggestions").click().run()
    assert "Nothing stood out of the noise for region" in words(app)
    assert line(app, "region")["values"] == ""


def test_nothing_is_read_off_the_data_unless_it_is_bought(page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the table is opened or something is bought, not one value leaves the file."""

    def forbidden(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("core.table.source._Database.take", forbidden)
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


def test_useless_column_on_the_page(page: Open) -> None:
    app = edit(choose_unit(page()), {2: {"low": "5", "high": "5", "bins": 1}, 11: {"include": True, "values": "1 | 2"}})
    told = [warning.value for warning in app.warning]
    assert any("'age' has one cell only" in warning for warning in told)
    assert any(r"'patient\_id' holds the ids" in warning for warning in told)
