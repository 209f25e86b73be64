"""The Data page for a table in a database: what the installation allows, and from its columns to an open table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from core.base.errors import Refused
from core.desk.desk import Desk
from core.table.formats.databases import database_rows, database_words, mysql_session, postgres_session
from core.table.formats.databases.database_source import DatabaseSource
from core.table.frame import Frame
from dashboard.door import access
from dashboard.views.data import sources_form, unit_form
from dashboard.views.data.servers import database_form
from tests.dashboard.pages.kit.data_page import choose_unit, draft, line
from tests.dashboard.pages.kit.elements import Open, button, errors, words
from tests.databases import StartedServer, name_of

SECRET = "not-to-be-seen"
CLINIC = f"postgresql://reader:{SECRET}@db.example/clinic"


def filled(app: AppTest, table: str, schema: str = "public") -> AppTest:
    app.radio(key="source").set_value(sources_form.DATABASE).run()
    if schema:
        app.text_input(key="database-schema").set_value(schema)
    app.text_input(key="database-table").set_value(table)
    return button(app, "Look at its columns").click().run()


@pytest.fixture
def databases(monkeypatch: pytest.MonkeyPatch) -> list[DatabaseSource]:
    """Two databases that may be read; gives what was looked at."""
    looked: list[DatabaseSource] = []

    @contextmanager
    def opened(source: DatabaseSource) -> Iterator[Frame]:
        looked.append(source)
        yield Frame(pd.DataFrame({"age": [1, 2], "region": ["north", "south"]}))

    monkeypatch.setenv(database_form.VARIABLE, f"clinic={CLINIC} other=mysql://desk@db/other odd")
    monkeypatch.setattr(database_rows, "opened", opened)
    return looked


def test_databases_are_off_until_one_is_named(page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(database_form.VARIABLE, raising=False)
    app = page()
    app.radio(key="source").set_value(sources_form.DATABASE).run()
    assert database_form.OFF in words(app)
    assert "database-table" not in [each.key for each in app.text_input]


def test_a_demo_reads_no_database(databases: list[DatabaseSource], monkeypatch: pytest.MonkeyPatch) -> None:
    source = DatabaseSource(address=CLINIC, table="people")
    assert list(database_form.addresses()) == ["clinic", "other"] and database_form.allowed(source) is source
    monkeypatch.setenv(access.DEMO_VARIABLE, "1")
    assert not database_form.addresses()
    with pytest.raises(Refused, match=database_form.VARIABLE):
        database_form.allowed(source)


def test_what_is_missing_is_told(page: Open, databases: list[DatabaseSource], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_session, "installed", lambda: False)
    app = page()
    app.radio(key="source").set_value(sources_form.DATABASE).run()
    assert postgres_session.NOT_INSTALLED in [each.value for each in app.warning]
    monkeypatch.setattr(mysql_session, "installed", lambda: False)
    app.selectbox(key="database-name").set_value("other").run()
    assert [each.value for each in app.warning] == [mysql_session.NOT_INSTALLED]


def test_the_columns_of_a_table_start_a_schema_and_it_is_read_again_to_be_opened(
    page: Open, desk: Desk, databases: list[DatabaseSource], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = filled(page(), " people ", schema="office")
    described = draft(app)
    assert databases[-1] == DatabaseSource(address=CLINIC, schema="office", table="people")
    assert (described.name, [name for name, _ in described.columns]) == ("people", ["age", "region"])
    assert line(app, "age")["high"] == "120"
    assert SECRET not in words(app) and SECRET not in described.identity
    with described.source(desk.folder) as source:
        assert source == databases[-1]
    monkeypatch.setenv(database_form.VARIABLE, "other=mysql://desk@db/other")
    with pytest.raises(Refused), described.source(desk.folder):
        pass


def test_mysql_is_asked_no_schema_and_what_was_said_of_a_table_is_offered_again(
    page: Open, desk: Desk, databases: list[DatabaseSource], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = filled(page(), "people")
    app.selectbox(key="database-name").set_value("other").run()
    assert "database-schema" not in [each.key for each in app.text_input]
    assert not draft(app).columns, "what was found in another database is forgotten"
    choose_unit(filled(app, "people", schema=""), unit_form.ROW)
    assert databases[-1] == DatabaseSource(address="mysql://desk@db/other", table="people")
    again = button(page(), "Go on with it").click().run()
    assert draft(again).database == databases[-1] and draft(again).columns == draft(app).columns
    assert again.selectbox(key="database-name").value == "other"
    kept = "".join(path.read_text() for path in (desk.folder / "drafts").rglob("*.json"))
    assert "people" in kept and "mysql://" not in kept
    monkeypatch.setenv(database_form.VARIABLE, f"clinic={CLINIC}")
    gone = button(page(), "Go on with it").click().run()
    assert any("cannot be read" in problem for problem in errors(gone))


def test_what_is_wrong_is_one_sentence(page: Open, databases: list[DatabaseSource]) -> None:
    app = filled(page(), "")
    assert any("table" in problem for problem in errors(app))
    assert not databases and not draft(app).columns


@pytest.mark.slow
def test_from_the_form_to_an_open_table(
    page: Open, desk: Desk, postgres: StartedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = postgres.new()
    postgres.sql(name_of(address), "CREATE TABLE people AS SELECT i % 90 AS age FROM generate_series(1, 300) AS i")
    monkeypatch.setenv(database_form.VARIABLE, f"clinic={address}")
    assert errors(filled(page(), "nobody")) == [database_words.NO_TABLE]
    app = choose_unit(filled(page(), "people"), unit_form.ROW)
    button(app, "Open this table").click().run()
    postgres.sql(name_of(address), "DROP TABLE people")
    assert not errors(app)
    assert [(table.name, table.notes["rows"]) for table in desk.tables()] == [("people", 300)]
