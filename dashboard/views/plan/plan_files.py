"""Plans as files: save one, load one, or paste one that somebody has sent."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.base.errors import BadFile
from core.plans.plan_file import check_length, read_plan_file, write_plan_file
from core.plans.release_terms import ReleaseTerms
from core.plans.statements import DeskTable
from dashboard.views.common import messages
from dashboard.views.common.downloads import stem_of
from dashboard.views.common.state import PageState
from dashboard.views.plan import plan_fill

FILE, TEXT = "plan-file", "plan-text"


def load(here: PageState, table: DeskTable) -> None:
    """Fill the forms from a saved plan."""
    with st.popover("Load a plan", icon=":material/upload_file:"):
        st.write("A plan.json saved on this page, for this or another table with the same columns.")
        st.file_uploader("Plan", type="json", key=FILE, on_change=_from_file, args=(here, table))
        st.text_area("Or paste it here", key=TEXT, height=120)
        st.button("Use it", key="plan-use", on_click=_from_text, args=(here, table))
    if here.problem:
        st.error(here.problem, icon=":material/error:")
        here.problem = None


def save(plan: ReleaseTerms, name: str) -> None:
    """The plan as a file; it holds choices only."""
    st.download_button(
        "Save the plan",
        write_plan_file(plan),
        file_name=f"{stem_of(name) or 'table'}-plan.json",
        mime="application/json",
        icon=":material/download:",
        on_click="ignore",
        key="plan-save",
    )
    messages.note("The file holds your choices and column names, nothing from the table; it may be shared.", "public")


def _from_file(here: PageState, table: DeskTable) -> None:
    file = st.session_state.get(FILE)
    if file is not None:
        _use(here, table, lambda: _decoded(file))


def _from_text(here: PageState, table: DeskTable) -> None:
    _use(here, table, lambda: str(st.session_state.get(TEXT) or ""))


def _use(here: PageState, table: DeskTable, text: Any) -> None:
    """In a widget's callback: fields can be filled before they are drawn only."""
    try:
        plan_fill.apply(table, read_plan_file(text()))
        here.problem = None
        st.toast("The plan is loaded.", icon=":material/check_circle:")
    except Exception as problem:
        here.problem = messages.sentence(problem)


def _decoded(file: Any) -> str:
    check_length(file.size)
    try:
        return str(file.getvalue().decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise BadFile("The plan file is not UTF-8 text; save the plan again.") from None
