"""Where a table comes from: the demo table, an upload, a path on the server, Spark, a database."""

from __future__ import annotations

import re
from pathlib import Path

import streamlit as st

from core.base.errors import BadFile
from core.base.wording import plural
from core.desk.desk import Desk
from core.table.formats import survey_file
from core.table.source import stored_tables
from core.table.spark.spark_table import columns_on_cluster
from core.table.table import inspect
from dashboard.door import access
from dashboard.views.common import messages, state
from dashboard.views.data import gallery, kept_drafts, schema_grid, server_path, text_form, upload
from dashboard.views.data.draft import Draft
from dashboard.views.data.schema import column_names
from dashboard.views.data.servers import database_form, spark_form

CHOICES = {
    "Demo table": "Four invented tables: try everything, harm nobody.",
    "Upload a file": "CSV, TSV, Excel, Parquet, Stata or SPSS, or a DuckDB or SQLite database, of your own.",
    "A file on the server": "Also a folder of Parquet files, inside a folder that whoever runs this has named.",
    "A table on Spark": "Rows stay on the cluster; only counts come to this desk.",
    "A table in a database": "PostgreSQL, MariaDB or MySQL, one of the databases that whoever runs this has named.",
}
DEMO_TABLE, UPLOAD, PATH, SPARK, DATABASE = CHOICES
ELSEWHERE = (
    f"Is the table in PostgreSQL, MariaDB or MySQL? Choose '{DATABASE}' above. From other databases, export it and "
    "bring the file."
)
UNNAMED_SHEET = re.compile(r"(sheet|tabelle|feuil|hoja|foglio|blad|planilha|ark) ?\d*", re.IGNORECASE)
"""What programs call a sheet that nobody has named: the name of the file says more."""
HEADER_ONLY = "Only the header is looked at until you have declared the schema; bounds are never read off the data."


def choose(draft: Draft, desk: Desk) -> None:
    """Leaves the draft with the columns of what was chosen."""
    with st.container():
        # A place of its own: what comes below stays what it is, open or not, when an offer goes.
        kept_drafts.offer(draft, desk)
    demo = state.demo_file()
    choices = list(CHOICES) if demo else [UPLOAD, PATH, SPARK, DATABASE]
    captions = [CHOICES[choice] for choice in choices]
    # Nothing is chosen at first: whoever comes back finds the tables that are open, and a newcomer no long form.
    chosen = st.radio("Which table?", choices, index=None, captions=captions, key="source", persist_state="session")
    kind = chosen or ""
    if draft.way != kind:
        draft.way = kind
        draft.forget()
    if not kind:
        if draft.problem:
            st.error(draft.problem, icon=":material/error:")
        return
    if kind == DEMO_TABLE and demo is not None:
        gallery.choose(draft)
        return
    if access.demo():
        st.info("This is a public demo: it takes no files. Run Release Desk on your own machine to use your own table.")
        return
    if kind == UPLOAD:
        st.file_uploader(
            "Your file",
            type=[suffix.removeprefix(".") for suffix in upload.SUFFIXES],
            key="upload",
            on_change=begin_upload,
            args=(draft, desk),
            help=HEADER_ONLY,
        )
        if draft.copy is not None and st.session_state.get("upload") is None:
            st.caption("The file is kept with the draft; another one begins anew.")
        text_form.show(_upload_name(draft), read_again, draft, desk)
        if not draft.columns:
            st.caption(ELSEWHERE)
    elif kind == SPARK:
        if not spark_form.addresses():
            draft.forget()
        spark_form.show(lambda: begin_spark(draft))
    elif kind == DATABASE:
        if not database_form.addresses():
            draft.forget()
        database_form.show(lambda: begin_database(draft, desk), draft.forget)
    else:
        _path(draft, desk)
    if draft.problem:
        st.error(draft.problem, icon=":material/error:")
    _tables(draft, desk)
    if draft.columns:
        kept = kept_drafts.promise(draft)
        found = f"'{messages.plain(draft.name)}' with {plural(len(draft.columns), 'column')}.{kept}"
        messages.note(found, "curator only")
        column_names.show(draft)


def begin_upload(draft: Draft, desk: Desk) -> None:
    """The uploader's callback: also called when the curator takes the file away, but not when the page changes."""
    file = st.session_state.get("upload")
    if file is not None and kept_drafts.same_file(draft, desk, file):
        return
    kept_drafts.drop(draft, desk)
    draft.forget()
    if file is None:
        return
    draft.origin, draft.name, draft.file = file.file_id, upload.name_of(file.name), file
    draft.written = text_form.said()
    _begin(draft, desk)
    if draft.problem is None:
        kept_drafts.take_up(draft, desk)


def read_again(draft: Draft, desk: Desk) -> None:
    """The callback of how an upload is written: of the file as a draft has kept it, or as it was uploaded."""
    if draft.copy is None:
        begin_upload(draft, desk)
        return
    draft.written = text_form.said()
    _look(draft, desk)


def _upload_name(draft: Draft) -> str:
    file = st.session_state.get("upload")
    return str(file.name) if file is not None else str(draft.copy or "")


def begin_path(draft: Draft, desk: Desk) -> None:
    """The callback of the path's field."""
    draft.forget()
    typed = str(st.session_state.get("server-path", "")).strip()
    if not typed:
        return
    try:
        draft.path = server_path.allowed(typed)
        draft.origin, draft.name = f"path {draft.path}", _path_name(draft.path)
        draft.written = text_form.said()
    except Exception as problem:
        draft.problem = messages.sentence(problem)
        return
    _begin(draft, desk)
    if draft.problem is None:
        kept_drafts.take_up(draft, desk)


def _path_name(path: Path) -> str:
    """What a table is called that comes from a path: a pattern is no name, so its folder's is taken."""
    return path.parent.name or "table" if re.search(r"[*?\[]", path.name) else upload.name_of(path.name)


def begin_spark(draft: Draft) -> None:
    """The callback of the form for Spark."""
    draft.forget()
    try:
        draft.spark = spark_form.described()
        draft.origin, draft.name = f"spark {draft.spark.to_json()}", draft.spark.name
        draft.columns = tuple((column.name, column.type) for column in columns_on_cluster(draft.spark))
        draft.restart(schema_grid.from_columns(draft.columns))
    except Exception as problem:
        draft.forget()
        draft.problem = messages.sentence(problem)


def begin_database(draft: Draft, desk: Desk) -> None:
    """The callback of the form for databases."""
    draft.forget()
    try:
        draft.database_name, draft.database = database_form.described()
        # By its name: an address may hold a password, and this stands in keys of widgets.
        draft.origin = f"database {draft.database_name} {draft.database.schema} {draft.database.table}"
        draft.name = draft.database.table
    except Exception as problem:
        draft.forget()
        draft.problem = messages.sentence(problem)
        return
    _begin(draft, desk)
    if draft.problem is None:
        kept_drafts.take_up(draft, desk)


def begin_table(draft: Draft, desk: Desk) -> None:
    """The callback of the choice among a DuckDB file's tables."""
    draft.table = st.session_state.get(f"table-{draft.origin}")
    _look(draft, desk)


def _begin(draft: Draft, desk: Desk) -> None:
    """Look at what was chosen for the first time: its tables if it has any, else its header."""
    try:
        with draft.unnamed_source(desk.folder) as source:
            tables = stored_tables(source) if isinstance(source, Path) else None
        if tables is not None and not tables:
            raise BadFile("The file has no tables or sheets; views cannot be used.")
    except Exception as problem:
        draft.forget()
        draft.problem = messages.sentence(problem)
        return
    draft.tables = tables or ()
    if len(draft.tables) == 1:
        draft.table = draft.tables[0]
    if not draft.tables or draft.table is not None:
        _look(draft, desk)


def _look(draft: Draft, desk: Desk) -> None:
    """Read the header only."""
    draft.columns, draft.problem, draft.names = (), None, {}
    if draft.tables and draft.table is None:
        return
    try:
        with draft.source(desk.folder) as source:
            draft.columns = tuple((column.name, column.type) for column in inspect(source))
        if draft.table is not None and not UNNAMED_SHEET.fullmatch(draft.table):
            draft.name = draft.table
        draft.restart(schema_grid.from_columns(draft.columns))
    except Exception as problem:
        if not draft.tables:
            draft.forget()
        draft.problem = messages.sentence(problem)


def _path(draft: Draft, desk: Desk) -> None:
    folders = server_path.folders()
    if not folders:
        draft.forget()
        st.info(server_path.OFF, icon=":material/folder_off:")
        return
    st.text_input(
        "Path on the server",
        key="server-path",
        persist_state="session",
        on_change=begin_path,
        args=(draft, desk),
        placeholder=str(folders[0] / "people.csv"),
        help=f"Inside {', '.join(messages.plain(folder) for folder in folders)}. {HEADER_ONLY}",
    )
    text_form.show(str(st.session_state.get("server-path", "")).strip(), begin_path, draft, desk)
    if not draft.columns:
        st.caption(f"{on_server()} {ELSEWHERE}")


def on_server() -> str:
    """What can be read from a path here, and what has to be brought into another form first."""
    survey = "Stata and SPSS files" if survey_file.installed() else "not Stata and SPSS files (no reader is installed)"
    return (
        "One file as for an upload, a folder of Parquet files with the same columns, or a pattern such as "
        "`visits/2024-*.parquet`. Parquet files and DuckDB tables are read a column at a time, so they may be larger "
        f"than memory; other files have to fit. Also read: SQLite databases, Excel workbooks, {survey}."
    )


def _tables(draft: Draft, desk: Desk) -> None:
    if len(draft.tables) > 1:
        st.selectbox(
            "Table or sheet in the file",
            draft.tables,
            index=None if draft.table is None else draft.tables.index(draft.table),
            key=f"table-{draft.origin}",
            on_change=begin_table,
            args=(draft, desk),
            placeholder="Choose one of them",
        )
