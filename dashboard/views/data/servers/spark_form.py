"""A table on Spark: the cluster, the rows on it, and the folder for encoded columns. Rows stay where they are."""

from __future__ import annotations

import os
import re
from collections.abc import Callable

import streamlit as st

from core.base.errors import Refused
from core.table.spark.spark_session import lacking
from core.table.spark.spark_source import SparkSource
from dashboard.door import access

VARIABLE = "RELEASE_DESK_SPARK"
OFF = (
    f"Tables on Spark are switched off; whoever runs this dashboard can name clusters in {VARIABLE}, for instance "
    "`census=sc://cluster:15002` or `local[2]`, with blanks between several."
)
STAYS = (
    "Rows are read once, on the cluster, and encoded columns are kept there in the folder that you name, readable for "
    "whoever owns the cluster. Only counts come to this desk. By them a whole table is recognised again, in another "
    "format too where the schema names the values of its columns one by one; a part of a table is not. The executors "
    "need Python with release-desk installed."
)
KINDS = {
    "Parquet files": "A file, a folder or a pattern",
    "A table of the catalogue": "Its name, such as office.people",
}
FILES, CATALOGUE = KINDS


def addresses() -> dict[str, str]:
    """The clusters that may be used, by the names that are shown for them; none in demo mode."""
    return {} if access.demo() else dict(_named(part) for part in os.environ.get(VARIABLE, "").split())


def _named(part: str) -> tuple[str, str]:
    """The name of a cluster and its address; one without a name is called by where it is, never by its token.

    >>> _named("census=sc://cluster:15002/;token=secret"), _named("sc://cluster:15002/;token=secret")[0]
    (('census', 'sc://cluster:15002/;token=secret'), 'sc://cluster:15002')
    """
    if found := re.fullmatch(r"([\w.-]+)=(.+)", part):
        return found[1], found[2]
    return part.partition("/;")[0], part


def show(begin: Callable[[], None]) -> None:
    """The form; `begin` looks at the columns of what was described."""
    clusters = addresses()
    if not clusters:
        st.info(OFF, icon=":material/cloud_off:")
        return
    with st.form("spark", border=False):
        name = st.selectbox("Cluster", list(clusters), key="spark-cluster", persist_state="session")
        st.radio("Rows", list(KINDS), captions=list(KINDS.values()), key="spark-kind", persist_state="session")
        st.text_input("Path or name", key="spark-rows", persist_state="session", placeholder="hdfs:///people/*.parquet")
        st.text_input(
            "Folder on the cluster for encoded columns",
            key="spark-folder",
            persist_state="session",
            placeholder="hdfs:///release-desk",
        )
        st.form_submit_button("Look at its columns", icon=":material/table_view:", on_click=begin)
    missing = lacking(clusters[name])
    if missing is not None:
        st.warning(missing, icon=":material/warning:")
    st.caption(STAYS)


def described() -> SparkSource:
    """What the form says, checked again: what may be used can have changed since it was drawn."""
    address = addresses().get(str(st.session_state.get("spark-cluster", "")))
    if address is None:
        raise Refused(OFF)
    rows, folder = (str(st.session_state.get(f"spark-{part}", "")).strip() for part in ("rows", "folder"))
    if st.session_state.get("spark-kind") == CATALOGUE:
        return SparkSource(address=address, folder=folder, table=rows)
    return SparkSource(address=address, folder=folder, path=rows)
