"""Ways to fill the schema's grid from public files: a saved schema, a code book, a public sample."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from core.base.errors import BadSchema, printable
from core.base.wording import plural
from core.desk.desk import Desk
from core.plans.statements import DeskTable
from core.schema import codebook
from core.schema.domain import Domain
from core.table import public_sample as sample
from dashboard.door import access
from dashboard.views.common import messages, state
from dashboard.views.data import schema_grid, upload
from dashboard.views.data.draft import DEMO, Draft
from dashboard.views.data.schema import file_labels

LARGEST = 64_000_000
EXAMPLE = """name,kind,low,high,bins,values,other,missing,note
age,integers,0,120,,,,no,form A 3
income,reals,0,200000,100,,,yes,tax law
region,categories,,,,north | south,elsewhere,no,list of districts"""
FROM_CODEBOOK = "from the code book"
SCHEMA, CODEBOOK, SAMPLE = "schema", "code book", "sample"
SAMPLE_TYPES = ["csv", "tsv", "parquet"]


def saved(draft: Draft, desk: Desk) -> None:
    """Load a saved schema, or the one of a table at the desk that has the same columns."""
    with st.popover("Load a schema", icon=":material/upload_file:", width="stretch"):
        st.write("A schema.json saved here before, or one that came with a release. Sizes of columns are read as well.")
        st.file_uploader("Schema", type="json", key="schema-file", on_change=_load_schema, args=(draft,))
        names = {name for name, _ in draft.columns}
        known = {table.id: table for table in desk.tables() if names.issuperset(table.domain.names)}
        if known:
            labels = state.table_labels(list(known.values()))
            chosen = st.selectbox(
                "Or that of a table at this desk", list(known), format_func=labels.__getitem__, key="schema-of"
            )
            st.button("Use its schema", key="schema-of-use", on_click=_use_known, args=(draft, known[chosen]))
        outcome(draft, SCHEMA)


def offer_known(draft: Draft, tables: Sequence[DeskTable]) -> None:
    """The schema of the latest of these tables that has the same columns, before anything else has filled the grid.

    The same file again has them; nothing but the names in its header is compared.
    """
    names = {name for name, _ in draft.columns}
    known = next((table for table in tables if names.issuperset(table.domain.names)), None)
    if known is None or draft.told or draft.origin.partition(" ")[0] == DEMO:
        return
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        st.markdown(f"**'{messages.plain(known.name)}' at this desk has these columns**, described before.")
        st.button(
            "Use that schema", key="schema-known", icon=":material/history:", on_click=_use_known, args=(draft, known)
        )


def code_book(draft: Draft, desk: Desk) -> None:
    """Paste or import a code book."""
    with st.popover("Use a code book", icon=":material/menu_book:", width="stretch"):
        st.write(
            "One line per column, as CSV or JSON; only the name is needed. What it does not say stays as it is. "
            "Frictionless (Table Schema, Data Package), CSV on the Web, DDI Codebook (XML, without its statistics, "
            "which come from the rows) and sizes of columns are read as well."
        )
        st.code(EXAMPLE, language=None)
        st.text_area("Paste it here", key="codebook-text", height=140)
        # Above the button, which is as low as a window of usual height shows.
        outcome(draft, CODEBOOK)
        st.button("Use it", key="codebook-use", on_click=_paste_codebook, args=(draft,))
        st.file_uploader(
            "Or import it",
            type=["csv", "tsv", "json", "xml"],
            key="codebook-file",
            on_change=_load_codebook,
            args=(draft,),
        )
        if file_labels.held(draft):
            file_labels.caution()
            st.button(file_labels.USE, key="codebook-labels", on_click=_use_labels, args=(draft, desk))


def public_sample(draft: Draft, desk: Desk) -> None:
    """Read bounds and categories off a public file with the same columns."""
    with st.popover("Read a public sample", icon=":material/public:", width="stretch"):
        st.write("Another file with the same column names: bounds and categories are read off **that one**.")
        if access.demo():
            st.info("This is a public demo: it takes no files.")
            return
        st.warning(
            "This file must be public, such as an earlier publication or invented rows: what is read off it is "
            "published with every release. Never use the table itself or a part of it.",
            icon=":material/warning:",
        )
        public = st.checkbox("Anybody may see every value of this file", key="sample-public")
        st.file_uploader(
            "Public sample",
            type=SAMPLE_TYPES,
            key="sample-file",
            disabled=not public,
            on_change=_read_sample,
            args=(draft, desk),
        )
        outcome(draft, SAMPLE)


def outcome(draft: Draft, filler: str) -> None:
    """What became of the last try, beside the button that started it."""
    if draft.filler != filler:
        return
    if draft.schema_problem:
        st.error(draft.schema_problem, icon=":material/error:")
    elif draft.told:
        st.info(f"{messages.plain(draft.told)} Close this to see the grid.", icon=":material/check_circle:")


def _load_schema(draft: Draft) -> None:
    def fill(file: Any) -> None:
        text = upload.text_of(file, "schema", LARGEST)
        if codebook.foreign(text):
            _use(draft, text)
            return
        domain = Domain.from_json(text)
        told = f"{plural(len(domain), 'column')} described by the saved schema{_rest(draft, domain)}."
        draft.restart(schema_grid.from_domain(domain, draft.columns), told, domain.rules)

    _filled(draft, SCHEMA, "schema-file", fill)


def _use_known(draft: Draft, table: DeskTable) -> None:
    draft.filler = SCHEMA
    told = f"{plural(len(table.domain), 'column')} described as in '{table.name}'{_rest(draft, table.domain)}."
    draft.restart(schema_grid.from_domain(table.domain, draft.columns), told, table.domain.rules)


def _rest(draft: Draft, domain: Domain) -> str:
    return "; the others are left out" if len(domain) < len(draft.columns) else ""


def _load_codebook(draft: Draft) -> None:
    _filled(draft, CODEBOOK, "codebook-file", lambda file: _use(draft, upload.text_of(file, "code book", LARGEST)))


def _paste_codebook(draft: Draft) -> None:
    _filled(draft, CODEBOOK, "codebook-text", lambda text: _use(draft, str(text)))


def _use_labels(draft: Draft, desk: Desk) -> None:
    draft.filler, draft.schema_problem, draft.told = CODEBOOK, None, None
    try:
        own = {shown: name for name, shown in draft.names.items()}
        lines = {line["name"]: line for line in file_labels.lines(draft, desk)}
        here = [
            {**lines[own.get(name, name)], "name": name} for name, _ in draft.columns if own.get(name, name) in lines
        ]
        rest = [name for name, _ in draft.columns if not any(line["name"] == name and "kind" in line for line in here)]
        _tell(draft, here, file_labels.NOTE, "the labels in the file", rest)
    except Exception as problem:
        draft.schema_problem = messages.sentence(problem)


def _read_sample(draft: Draft, desk: Desk) -> None:
    def fill(file: Any) -> None:
        if not st.session_state.get("sample-public"):
            raise BadSchema("Say first that the sample is public.")
        names = [name for name, _ in draft.columns]
        with upload.on_disk(file, desk.folder) as path, draft.source(desk.folder) as private:
            lines = sample.describe(path, names, private=private)
        found = {line["name"] for line in lines}
        _tell(draft, lines, sample.NOTE, "the public sample", [name for name in names if name not in found])

    _filled(draft, SAMPLE, "sample-file", fill)


def _use(draft: Draft, text: str) -> None:
    lines = codebook.read(text)
    names = [name for name, _ in draft.columns]
    known = [line for line in lines if line["name"] in names]
    if not known:
        raise BadSchema("The code book describes no column of this table; its names must be the table's own.")
    # A line that gives neither a kind nor what implies one leaves its column as it is.
    described = {line["name"] for line in known if "kind" in line}
    _tell(draft, known, FROM_CODEBOOK, "the code book", [name for name in names if name not in described])
    if rules := codebook.read_rules(text):
        draft.take_rules(rules)
    if len(known) < len(lines):
        others = plural(len(lines) - len(known), "line")
        draft.told = f"{draft.told} {others} of the code book name columns that this table does not have."


def _tell(draft: Draft, lines: list[dict[str, Any]], note: str, origin: str, rest: list[str]) -> None:
    """Fill the grid and say what was filled and what was left as it was."""
    left = "" if not rest else f" Left as they were: {', '.join(printable(name, 40) for name in rest[:8])}"
    more = "" if not rest else f" and {len(rest) - 8} more." if len(rest) > 8 else "."
    told = f"{plural(sum('kind' in line for line in lines), 'column')} described by {origin}.{left}{more}"
    draft.restart(schema_grid.with_lines(draft.latest, lines, note), told)


def _filled(draft: Draft, filler: str, key: str, fill: Callable[[Any], None]) -> None:
    """Run a callback's work on its widget's value; a problem becomes one sentence."""
    given = st.session_state.get(key)
    if not given:
        # Nothing was given, or a file was taken away: what the grid was filled with before is still there.
        draft.schema_problem = None
        return
    draft.filler, draft.schema_problem, draft.told = filler, None, None
    try:
        fill(given)
    except Exception as problem:
        draft.schema_problem = messages.sentence(problem)
