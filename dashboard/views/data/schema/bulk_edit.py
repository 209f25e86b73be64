"""The same settings for many columns of the schema's grid at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from core.base.errors import printable
from core.base.wording import plural
from core.schema.domain import KINDS
from dashboard.views.common import messages
from dashboard.views.data import schema_grid
from dashboard.views.data.draft import Draft

LEAVE = "as it is"
FIELDS = ("low", "high", "bins", "values", "other", "decimals", "note")
WHOLE = ("bins", "decimals")
CHOSEN = ("kind", "include", "missing")
HINT = (
    "Cells can also be pasted from a spreadsheet: click the first one and press Ctrl+V. The 'other' cell, decimals and "
    "where a setting comes from stand further right; scroll, or show the grid in full screen."
)


def show(draft: Draft) -> None:
    with st.container(horizontal=True):
        _several(draft)
        st.button(
            "Propose bins",
            key="propose-bins",
            icon=":material/bar_chart:",
            help="Steps of round numbers, weeks, months or years for ranges that have no bins yet, by their bounds "
            "alone; and decimals for real numbers that have none. Ranges of few values stay as they are.",
            on_click=_propose,
            args=(draft,),
        )
    st.caption(HINT)


def _propose(draft: Draft) -> None:
    frame, filled, rounded = schema_grid.with_bins(draft.latest)
    told = [f"Bins proposed for {_named(filled)}."] if filled else ["Every range has bins already, or few values."]
    if rounded:
        told.append(f"Decimals proposed for {_named(rounded)}.")
    draft.restart(frame, " ".join(told))


def _named(columns: Sequence[str]) -> str:
    return ", ".join(printable(name, 40) for name in columns[:8]) + (" and others" if len(columns) > 8 else "")


def _several(draft: Draft) -> None:
    with st.popover("Set several columns at once", icon=":material/edit_note:"):
        names = [str(name) for name in draft.latest["name"]]
        st.multiselect("Columns to set", names, key="bulk-columns", placeholder="Choose columns")
        places = st.columns(3)
        places[0].selectbox("Kind", [LEAVE, *KINDS], key="bulk-kind")
        places[1].selectbox("Use", [LEAVE, "yes", "no"], key="bulk-include")
        places[2].selectbox("May be empty", [LEAVE, "yes", "no"], key="bulk-missing")
        left, right = st.columns(2)
        left.text_input("Low", key="bulk-low")
        right.text_input("High", key="bulk-high")
        left.text_input("Bins", key="bulk-bins")
        right.text_input("Decimals", key="bulk-decimals")
        left.text_input("Categories", key="bulk-values", placeholder="north | south")
        right.text_input("'Other' cell", key="bulk-other")
        st.text_input("Where does this come from?", key="bulk-note")
        st.caption("What is left empty stays as it is.")
        st.button("Set them", type="primary", key="bulk-set", on_click=_set, args=(draft,))
        if problem := st.session_state.pop("bulk-problem", None):
            st.error(problem, icon=":material/error:")


def _set(draft: Draft) -> None:
    chosen = list(st.session_state.get("bulk-columns", []))
    settings, problem = _settings()
    if problem is None and not (chosen and settings):
        problem = "Choose at least one column and one setting."
    if problem is not None:
        st.session_state["bulk-problem"] = problem
        return
    told = f"{plural(len(chosen), 'column')} set at once."
    draft.restart(schema_grid.with_settings(draft.latest, chosen, settings), told)
    _begin_anew()


def _begin_anew() -> None:
    """Nothing stays chosen or filled in: the next group would otherwise set the columns of this one once more."""
    st.session_state["bulk-columns"] = []
    for name in FIELDS:
        st.session_state[f"bulk-{name}"] = ""
    for name in CHOSEN:
        st.session_state[f"bulk-{name}"] = LEAVE


def _settings() -> tuple[dict[str, Any], str | None]:
    """What was filled in, as cells of the grid, or what is wrong with it."""
    found: dict[str, Any] = {}
    for name in FIELDS:
        text = str(st.session_state.get(f"bulk-{name}", "")).strip()
        if text and name in WHOLE and not (text.isascii() and text.isdigit() and len(text) < 10):
            return {}, messages.plain(f"{name.capitalize()} must be a whole number.")
        if text:
            found[name] = int(text) if name in WHOLE else text
    if (kind := st.session_state.get("bulk-kind", LEAVE)) != LEAVE:
        found["kind"] = kind
    for name in ("missing", "include"):
        if (answer := st.session_state.get(f"bulk-{name}", LEAVE)) != LEAVE:
            found[name] = answer == "yes"
    return found, None
