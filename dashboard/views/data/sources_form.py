"""Where a table comes from: the demo table, an upload, or a path on the server; a DuckDB file needs a table's name."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from core.base.errors import BadFile
from core.base.wording import plural
from core.desk.desk import Desk
from core.schema.domain import Domain
from core.table.source import stored_tables
from core.table.table import inspect
from dashboard.views.common import access, messages, state
from dashboard.views.data import schema_grid, server_path, upload
from dashboard.views.data.draft import DEMO, Draft

CHOICES = {
    "Demo table": "Invented visits to a clinic: try everything, harm nobody.",
    "Upload a file": "A CSV, TSV or Parquet file or a DuckDB database of your own.",
    "A file on the server": "Inside a folder that whoever runs this dashboard has named.",
}
DEMO_TABLE, UPLOAD, PATH = CHOICES
HEADER_ONLY = "Only the header is looked at until you have declared the schema; bounds are never read off the data."


def choose(draft: Draft, desk: Desk) -> None:
    """Leaves the draft with the columns of what was chosen."""
    demo = state.demo_file()
    choices = list(CHOICES) if demo else [UPLOAD, PATH]
    captions = [CHOICES[choice] for choice in choices]
    kind = st.radio("Which table?", choices, captions=captions, key="source", persist_state="session")
    if draft.way != kind:
        draft.way = kind
        draft.forget()
    if kind == DEMO_TABLE and demo is not None:
        if draft.origin != DEMO:
            begin_demo(draft, demo)
        messages.note(f"{plural(len(draft.columns), 'column')}; file and schema are part of this program.", "public")
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
    else:
        _path(draft, desk)
    if draft.problem:
        st.error(draft.problem, icon=":material/error:")
    _tables(draft, desk)
    if draft.columns:
        messages.note(f"'{messages.plain(draft.name)}' with {plural(len(draft.columns), 'column')}.", "curator only")


def begin_demo(draft: Draft, demo: Path) -> None:
    draft.forget()
    draft.columns = tuple((column.name, column.type) for column in inspect(demo))
    draft.restart(schema_grid.from_domain(Domain.from_json(state.demo_schema()), draft.columns))
    draft.origin, draft.name, draft.path = DEMO, state.DEMO_NAME, demo


def begin_upload(draft: Draft, desk: Desk) -> None:
    """The uploader's callback: also called when the curator takes the file away, but not when the page changes."""
    draft.forget()
    file = st.session_state.get("upload")
    if file is None:
        return
    draft.origin, draft.name, draft.file = file.file_id, upload.name_of(file.name), file
    _begin(draft, desk)


def begin_path(draft: Draft, desk: Desk) -> None:
    """The callback of the path's field."""
    draft.forget()
    typed = str(st.session_state.get("server-path", "")).strip()
    if not typed:
        return
    try:
        draft.path = server_path.allowed(typed)
        draft.origin, draft.name = f"path {draft.path}", upload.name_of(draft.path.name)
    except Exception as problem:
        draft.problem = messages.sentence(problem)
        return
    _begin(draft, desk)


def begin_table(draft: Draft, desk: Desk) -> None:
    """The callback of the choice among a DuckDB file's tables."""
    draft.table = st.session_state.get(f"table-{draft.origin}")
    _look(draft, desk)


def _begin(draft: Draft, desk: Desk) -> None:
    """Look at what was chosen for the first time: its tables if it has any, else its header."""
    try:
        with draft.source(desk.folder) as source:
            tables = stored_tables(source) if isinstance(source, Path) else None
        if tables is not None and not tables:
            raise BadFile("The DuckDB database has no tables; views cannot be used.")
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
    draft.columns, draft.problem = (), None
    if draft.tables and draft.table is None:
        return
    try:
        with draft.source(desk.folder) as source:
            draft.columns = tuple((column.name, column.type) for column in inspect(source))
        draft.name = draft.table or draft.name
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


def _tables(draft: Draft, desk: Desk) -> None:
    if len(draft.tables) > 1:
        st.selectbox(
            "Table in the database",
            draft.tables,
            index=None if draft.table is None else draft.tables.index(draft.table),
            key=f"table-{draft.origin}",
            on_change=begin_table,
            args=(draft, desk),
            placeholder="Choose one of its tables",
        )
