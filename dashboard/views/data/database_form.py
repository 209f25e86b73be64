"""A table in a PostgreSQL database: only those that whoever runs the dashboard has named, and never their addresses."""

from __future__ import annotations

import os
from collections.abc import Callable

import streamlit as st

from core.base.errors import Refused
from core.table.formats.postgres import postgres_session
from core.table.formats.postgres.postgres_source import PostgresSource
from dashboard.door import access

VARIABLE = "RELEASE_DESK_DATABASES"
OFF = (
    f"Tables in databases are switched off; whoever runs this dashboard can name PostgreSQL databases in {VARIABLE}, "
    "for instance `clinic=postgresql://reader@db.example/clinic`, with blanks between several. MySQL is not read from "
    "here."
)
READ = (
    "The table is read in one transaction that can only read, in pieces that are encoded at once: no raw value goes to "
    "disk. Names are taken as the database has them, with large and small letters. Views and foreign tables cannot be "
    "used; MySQL is not read from here."
)


def addresses() -> dict[str, str]:
    """The databases that may be read, by the names that are shown for them; none in demo mode."""
    if access.demo():
        return {}
    named = (part.partition("=") for part in os.environ.get(VARIABLE, "").split())
    return {name: address for name, _, address in named if name and address}


def show(begin: Callable[[], None]) -> None:
    """The form; `begin` looks at the columns of what was described."""
    named = addresses()
    if not named:
        st.info(OFF, icon=":material/database_off:")
        return
    with st.form("database", border=False):
        st.selectbox("Database", list(named), key="database-name", persist_state="session")
        st.text_input("Schema of the database", value="public", key="database-schema", persist_state="session")
        st.text_input("Table", key="database-table", persist_state="session", placeholder="people")
        st.form_submit_button("Look at its columns", icon=":material/table_view:", on_click=begin)
    if not postgres_session.installed():
        st.warning(postgres_session.NOT_INSTALLED, icon=":material/warning:")
    st.caption(READ)


def described() -> tuple[str, PostgresSource]:
    """The name of a database, and what the form says of a table in it."""
    name = str(st.session_state.get("database-name", ""))
    schema, table = (str(st.session_state.get(f"database-{part}", "")).strip() for part in ("schema", "table"))
    named = addresses()
    if name not in named:
        raise Refused(OFF)
    return name, PostgresSource(address=named[name], schema=schema, table=table)


def allowed(source: PostgresSource) -> PostgresSource:
    """Asked again when it is read: what may be used can have changed since it was chosen."""
    if source.address not in addresses().values():
        raise Refused(OFF)
    return source
