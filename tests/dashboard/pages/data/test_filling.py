"""The Data page: what may fill a schema, from code books to suggestions that are bought."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pyreadstat
import pytest
from streamlit.testing.v1 import AppTest

from core.desk.desk import Desk
from core.mechanisms.discovery.discovery import Discovery
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from dashboard.views.data import schema_grid, unit_form
from dashboard.views.data.schema import file_labels, sex_spellings
from tests.dashboard.pages.kit.data_page import CSV, PEOPLE, SHARED, choose_unit, demo, draft, edit, line, uploaded
from tests.dashboard.pages.kit.elements import Open, button, errors, field, words


@pytest.mark.exhaustive
def test_schema_of_another_table_is_refused(page: Open) -> None:
    app = demo(page())
    schema = json.dumps({"columns": [{"name": "salary", "kind": "integers", "low": 0, "high": 9}]})
    app.file_uploader(key="schema-file").upload("schema.json", schema.encode(), "application/json").run()
    beside, outside = errors(app)
    assert "'salary'" in beside and outside == f"The grid is as it was. {beside}", "one is hidden with its button"


@pytest.mark.exhaustive
def test_saved_schema_can_be_loaded(page: Open) -> None:
    app = demo(page())
    schema = json.dumps({"columns": [{"name": "age", "kind": "integers", "low": 0, "high": 9}]})
    app.file_uploader(key="schema-file").upload("schema.json", schema.encode(), "application/json").run()
    assert not errors(app)
    assert "1 column; a record is one of 10 possible combinations" in words(app)


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
def test_a_line_that_says_nothing_of_a_column_leaves_it_a_guess(page: Open) -> None:
    app = uploaded(page())
    before = line(app, "age")["note"]
    fields = [{"name": "age", "type": "integer", "description": "Age in years"}]
    fields += [{"name": "region", "type": "string", "constraints": {"enum": ["north", "south"]}}]
    app.text_area(key="codebook-text").set_value(json.dumps({"fields": fields}))
    button(app, "Use it").click().run()
    assert r"1 column described by the code book\. Left as they were\:" in words(app)
    assert line(app, "age")["note"] == before and before in schema_grid.GUESSES


def test_labels_in_a_file_of_spss_are_used_where_the_curator_says_so(page: Open, tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": [31.0, 45.0], "sex": [1.0, 2.0], "name": ["x", "y"]})
    labels = {"sex": {1.0: "female", 2.0: "male"}}
    pyreadstat.write_sav(frame, tmp_path / "a.sav", variable_value_labels=labels, column_labels={"sex": "Sex"})
    app = uploaded(page(), "a.sav", (tmp_path / "a.sav").read_bytes())
    assert line(app, "sex")["values"] == "0 | 1 | 2 | 9", "labels are not taken by themselves"
    assert "the questionnaire" in words(app)
    button(app, file_labels.USE).click().run()
    assert (line(app, "sex")["values"], line(app, "sex")["note"]) == ("1 | 2", "Sex: 1 = female, 2 = male")
    assert "Left as they were" in words(app)
    other = uploaded(page())
    assert not any(each.label == file_labels.USE for each in other.button)


def test_how_a_table_writes_sex_is_one_press(page: Open) -> None:
    app = uploaded(page(), "a.csv", b"age,Sex\n31,male\n45,female\n")
    [spellings] = app.pills
    assert "rows are not looked at" in spellings.label and "by its name" not in spellings.label
    spellings.set_value("female | male").run()
    assert (line(app, "Sex")["values"], line(app, "Sex")["note"]) == ("female | male", sex_spellings.NOTE)
    assert not app.pills, "what was chosen is no guess"
    [code] = uploaded(page(), "b.csv", b"age,gender_code\n31,1\n").pills
    assert "gender" in code.label, "also where its type alone is known"


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
def test_a_file_that_comes_again_finds_its_schema(page: Open, desk: Desk) -> None:
    desk.add_table(PEOPLE, SHARED, unit=Unit.row(), budget=Budget(1), name="people")
    app = uploaded(page("data"))
    button(app, "Use its schema").click().run()
    assert (line(app, "age")["high"], line(app, "region")["values"]) == ("99", "north | south")
    assert not line(app, "width")["include"] and "described as in 'people'" in draft(app).told
    other = uploaded(page("data"), content=b"size\n1\n")
    assert "Use its schema" not in [found.label for found in other.button]
