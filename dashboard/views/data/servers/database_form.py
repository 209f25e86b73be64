"""A table in a database: only databases that whoever runs the dashboard has named, and never their addresses."""

from __future__ import annotations

import os
from collections.abc import Callable

import streamlit as st

from core.base.errors import Refused
from core.table.formats.databases import mysql_session, postgres_session
from core.table.formats.databases.database_source import MYSQL, POSTGRES, USUAL_SCHEMA, DatabaseSource
from dashboard.door import access

VARIABLE = "RELEASE_DESK_DATABASES"
OFF = (
    f"Tables in databases are switched off; whoever runs this dashboard can name some in {VARIABLE}, for instance "
    "`clinic=postgresql://reader@db.example/clinic shop=mysql://reader@db.example/shop`, with blanks between them."
)
READ = (
    "The table is read in one transaction that can only read, in pieces that are encoded at once: no raw value goes to "
    "disk. Names are taken as the database has them, with large and small letters. Views and foreign tables cannot be "
    "used; of MariaDB and MySQL, tables that InnoDB keeps."
)
SESSIONS = {POSTGRES: postgres_session, MYSQL: mysql_session}


def addresses() -> dict[str, str]:
    """The databases that may be read, by the names that are shown for them; none in demo mode."""
    if access.demo():
        return {}
    parts = (part.partition("=") for part in os.environ.get(VARIABLE, "").split())
    return {name: address for name, _, address in parts if name and address}


def show(begin: Callable[[], None], changed: Callable[[], None]) -> None:
    """The form; `begin` looks at the columns of what was described, and `changed` forgets those of another database."""
    databases = addresses()
    if not databases:
        st.info(OFF, icon=":material/database_off:")
        return
    # Outside the form: what else is asked depends on it.
    name = st.selectbox("Database", list(databases), key="database-name", persist_state="session", on_change=changed)
    postgres = _of_postgres(databases[name])
    with st.form("database", border=False):
        if postgres:
            st.text_input("Schema of the database", value=USUAL_SCHEMA, key="database-schema", persist_state="session")
        st.text_input("Table", key="database-table", persist_state="session", placeholder="people")
        st.form_submit_button("Look at its columns", icon=":material/table_view:", on_click=begin)
    session = SESSIONS[POSTGRES if postgres else MYSQL]
    if not session.installed():
        st.warning(session.NOT_INSTALLED, icon=":material/warning:")
    st.caption(READ)


def described() -> tuple[str, DatabaseSource]:
    """The name of a database, and what the form says of a table in it."""
    name, schema, table = (str(st.session_state.get(f"database-{part}", "")) for part in ("name", "schema", "table"))
    return name, named(name, schema.strip(), table.strip())


def named(name: str, schema: str, table: str) -> DatabaseSource:
    """A table of the database that is called so here."""
    address = addresses().get(name)
    if address is None:
        raise Refused(OFF)
    return DatabaseSource(address=address, schema=schema if _of_postgres(address) else "", table=table)


def fill(name: str, source: DatabaseSource) -> None:
    """Let the fields say this; before they are drawn."""
    st.session_state["database-name"], st.session_state["database-table"] = name, source.table
    if source.schema:
        st.session_state["database-schema"] = source.schema


def allowed(source: DatabaseSource) -> DatabaseSource:
    """Asked again when it is read: what may be used can have changed since it was chosen."""
    if source.address not in addresses().values():
        raise Refused(OFF)
    return source


def _of_postgres(address: str) -> bool:
    return address.startswith("postgres")
