"""Taking in a table: from a file's header to an encoded table at the desk."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import streamlit as st

from core.desk import Desk
from core.domain import Domain
from core.errors import BadSchema, DeskError
from core.held import HeldTable
from core.privacy import Budget, Unit
from core.table import inspect
from core.wording import amount, plural
from dashboard.views import access, messages, schema_grid, state, upload, wording
from dashboard.views.state import Draft

DEMO, UPLOAD = "Demo table", "Upload a file"
LARGEST_SCHEMA_FILE = 64_000_000


def choose(draft: Draft, desk: Desk) -> None:
    """Demo table or upload; leaves the draft with the columns of what was chosen."""
    demo = state.demo_file()
    choices = [DEMO, UPLOAD] if demo else [UPLOAD]
    captions = ["Invented visits to a clinic: try everything, harm nobody.", "A CSV, TSV or Parquet file of your own."]
    kind = st.radio("Which table?", choices, captions=captions[-len(choices) :], key="source", persist_state="session")
    if kind == DEMO and demo is not None:
        if draft.origin != "demo":
            begin_demo(draft, demo)
        messages.note(f"{plural(len(draft.columns), 'column')}; file and schema are part of this program.", "public")
        return
    if access.demo():
        _forget(draft)
        st.info("This is a public demo: it takes no files. Run Release Desk on your own machine to use your own table.")
        return
    if draft.origin == "demo":
        _forget(draft)
    st.file_uploader(
        "Your file",
        type=[suffix.removeprefix(".") for suffix in upload.SUFFIXES],
        key="upload",
        on_change=begin_upload,
        args=(draft, desk),
        help="Only the header is looked at until you have declared the schema; bounds are never read off the data.",
    )
    if draft.problem:
        st.error(draft.problem, icon=":material/error:")
    elif draft.file is not None:
        messages.note(f"'{messages.plain(draft.name)}' with {plural(len(draft.columns), 'column')}.", "curator only")


def begin_demo(draft: Draft, demo: Path) -> None:
    _forget(draft)
    draft.columns = tuple((column.name, column.type) for column in inspect(demo))
    draft.restart(schema_grid.from_domain(Domain.from_json(state.demo_schema()), draft.columns))
    draft.origin, draft.name = "demo", state.DEMO_NAME


def begin_upload(draft: Draft, desk: Desk) -> None:
    """The uploader's callback: also called when the curator takes the file away, but not when the page changes."""
    _forget(draft)
    file = st.session_state.get("upload")
    if file is None:
        return
    try:
        with upload.on_disk(file, desk.folder) as path:
            draft.columns = tuple((column.name, column.type) for column in inspect(path))
        draft.restart(schema_grid.from_columns(draft.columns))
        draft.origin, draft.name, draft.file = file.file_id, upload.name_of(file.name), file
    except Exception as problem:
        _forget(draft)
        draft.problem = messages.sentence(problem)


def schema_files(draft: Draft) -> None:
    """Load a saved schema."""
    with st.popover("Load a schema", icon=":material/upload_file:"):
        st.write("A schema.json saved here before, or one that came with a release.")
        st.file_uploader("Schema", type="json", key="schema-file", on_change=_load_schema, args=(draft,))
    if draft.schema_problem:
        st.error(draft.schema_problem, icon=":material/error:")


def schema(draft: Draft) -> Domain | None:
    """The grid, what it amounts to, and its download; None while it has an error."""
    if draft.key not in st.session_state and draft.latest is not draft.base:
        # The editor forgot its edits because another page was shown.
        draft.restart(draft.latest)
    st.write(
        "Bounds, bins and categories become public with every release. Take them from a form, a law or a code book, "
        "**never from the data**. Cells that do not fit are moved to the nearest bound or to the 'other' cell."
    )
    draft.latest = schema_grid.editor(draft.base, draft.key)
    try:
        domain = schema_grid.to_domain(draft.latest)
    except DeskError as problem:
        st.error(messages.sentence(problem), icon=":material/error:")
        return None
    messages.note(
        f"{plural(len(domain), 'column')}; a record is one of {amount(domain.cells())} possible combinations.", "public"
    )
    for attribute in domain:
        if attribute.size == 1:
            name = messages.plain(attribute.name)
            st.warning(
                f"Column '{name}' has one cell only: a release says nothing about it.", icon=":material/warning:"
            )
    st.download_button(
        "Save the schema",
        domain.to_json(),
        file_name="schema.json",
        mime="application/json",
        icon=":material/download:",
        on_click="ignore",
    )
    return domain


def open_table(draft: Draft, desk: Desk, domain: Domain, unit: Unit, budget: Budget) -> HeldTable:
    if draft.file is None:
        return desk.add_table(state.demo_file(), domain, unit=unit, budget=budget, name=draft.name)
    with upload.on_disk(draft.file, desk.folder) as path:
        return desk.add_table(path, domain, unit=unit, budget=budget, name=draft.name)


def report(table: HeldTable) -> None:
    """What happened to the rows; for the curator's eyes."""
    rows, misfits, dropped = table.notes["rows"], table.notes["misfits"], table.notes["dropped_rows"]
    with st.container(border=True):
        st.success(f"'{messages.plain(table.name)}' is open.", icon=":material/check_circle:")
        messages.badge("curator only")
        st.write(f"{plural(rows, 'row')} in use; {plural(dropped, 'row')} left out by the limit per unit.")
        found = {name: count for name, count in misfits.items() if count}
        if found:
            st.write("Cells that did not fit the schema and were moved:")
            st.dataframe(
                pd.DataFrame({"Column": list(found), "Cells moved": list(found.values())}),
                hide_index=True,
                width="content",
                alt="Number of cells moved, per column.",
            )
        else:
            st.write("Every cell fits the schema.")
        st.page_link("steps/release.py", label="Go on to Release", icon=":material/arrow_forward:")


def overview(held: list[HeldTable]) -> None:
    st.dataframe(
        pd.DataFrame(
            {
                "Table": [table.name for table in held],
                "Columns": [len(table.domain) for table in held],
                "Unit of privacy": [_unit(table.unit) for table in held],
                "Total ε": [float(table.budget.epsilon) for table in held],
                "δ": [wording.number(table.budget.delta) for table in held],
                "Added": [wording.moment(table.added) for table in held],
            }
        ),
        hide_index=True,
        alt="Tables at this desk with their unit of privacy and total budget.",
    )
    messages.note("Names, schemas, units and budgets; nothing here is computed from the rows.", "public")


def _unit(unit: Unit) -> str:
    who = "one row" if unit.column is None else f"one {unit.column}, at most {plural(unit.limit, 'row')}"
    return f"{who}; {unit.neighbours}"


def _load_schema(draft: Draft) -> None:
    draft.schema_problem = None
    file = st.session_state.get("schema-file")
    if file is None:
        return
    try:
        if file.size > LARGEST_SCHEMA_FILE:
            raise BadSchema("The schema file is too large to be one.")
        try:
            text = file.getvalue().decode("utf-8-sig")
        except UnicodeDecodeError:
            raise BadSchema("The schema file is not UTF-8 text; choose a schema.json.") from None
        draft.restart(schema_grid.from_domain(Domain.from_json(text), draft.columns))
    except Exception as problem:
        draft.schema_problem = messages.sentence(problem)


def _forget(draft: Draft) -> None:
    draft.origin = draft.name = ""
    draft.file = draft.problem = draft.schema_problem = None
    draft.columns = ()
