"""The Data page for a table on Spark: what the installation allows, and from its columns to an open table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from core.desk.desk import Desk
from core.table.row_source import Column
from core.table.spark.spark_source import SparkSource
from dashboard.views.data import sources_form
from dashboard.views.data.servers import spark_form
from tests.dashboard.pages.kit.data_page import draft, line
from tests.dashboard.pages.kit.elements import Open, button, errors, words

COLUMNS = (Column("age", "BIGINT"), Column("region", "VARCHAR"))


def filled(app: AppTest, rows: str, folder: str = "/encoded", kind: str = spark_form.FILES) -> AppTest:
    app.radio(key="source").set_value(sources_form.SPARK).run()
    app.radio(key="spark-kind").set_value(kind)
    app.text_input(key="spark-rows").set_value(rows)
    app.text_input(key="spark-folder").set_value(folder)
    return button(app, "Look at its columns").click().run()


@pytest.fixture
def clusters(monkeypatch: pytest.MonkeyPatch) -> list[SparkSource]:
    """Two clusters that may be used; gives what was looked at."""
    looked: list[SparkSource] = []

    def columns(source: SparkSource) -> tuple[Column, ...]:
        looked.append(source)
        return COLUMNS

    monkeypatch.setenv(spark_form.VARIABLE, "local[2] sc://cluster:15002")
    monkeypatch.setattr(sources_form, "columns_on_cluster", columns)
    monkeypatch.setattr(spark_form, "lacking", lambda address: None)
    return looked


def test_spark_is_off_until_a_cluster_is_named(page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(spark_form.VARIABLE, raising=False)
    app = page()
    app.radio(key="source").set_value(sources_form.SPARK).run()
    assert spark_form.VARIABLE in words(app)
    assert not app.text_input or "spark-rows" not in [each.key for each in app.text_input]


def test_what_is_missing_is_told(page: Open, clusters: list[SparkSource], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_form, "lacking", lambda address: "Java is not installed here.")
    app = page()
    app.radio(key="source").set_value(sources_form.SPARK).run()
    assert "Java is not installed here." in [each.value for each in app.warning]


def test_the_columns_of_a_table_on_spark_start_a_schema(page: Open, clusters: list[SparkSource]) -> None:
    app = filled(page(), "/people/*.parquet")
    assert clusters == [SparkSource(address="local[2]", folder="/encoded", path="/people/*.parquet")]
    assert draft(app).columns == COLUMNS
    assert line(app, "age")["high"] == "120"
    app = filled(app, "office.people", kind=spark_form.CATALOGUE)
    assert (clusters[-1].table, draft(app).name) == ("office.people", "people")


def test_clusters_are_shown_by_name_and_no_token_is(
    page: Open, clusters: list[SparkSource], monkeypatch: pytest.MonkeyPatch
) -> None:
    own = "sc://cluster:15002/;use_ssl=true;token=secret"
    monkeypatch.setenv(spark_form.VARIABLE, f"census={own} {own}")
    app = filled(page(), "/people")
    assert clusters[-1].address == own
    assert app.selectbox(key="spark-cluster").options == ["census", "sc://cluster:15002"]
    assert "secret" not in words(app)


def test_what_is_wrong_is_one_sentence(page: Open, clusters: list[SparkSource]) -> None:
    app = filled(page(), "/people", folder="")
    assert any("folder" in problem for problem in errors(app))
    assert not clusters and not draft(app).columns


def test_a_table_on_spark_is_opened_where_it_is(
    page: Open, desk: Desk, clusters: list[SparkSource], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from dashboard.views.data import intake

    taken: list[Any] = []
    monkeypatch.setattr(Desk, "add_table", lambda self, source, domain, **how: taken.append(source))
    described = draft(filled(page(), "/people"))
    intake.open_table(described, desk, None, None, None, None)  # type: ignore[arg-type]
    assert taken == [described.spark]
    assert isinstance(described.latest, pd.DataFrame)
