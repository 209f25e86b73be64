"""Spellings for a column that is named like somebody's sex: tables use a few, and a guess is one of them at most."""

from __future__ import annotations

import streamlit as st

from core.schema.guesses import SEX_SPELLINGS, sex_like
from core.schema.value_list import write_values
from dashboard.views.common import messages
from dashboard.views.data import schema_grid
from dashboard.views.data.draft import Draft

NOTE = "chosen from usual spellings"
LISTS = [write_values(spelling) for spelling in SEX_SPELLINGS]


def show(draft: Draft) -> None:
    """One choice for each column whose categories nobody has said."""
    for name in guessed(draft):
        st.pills(
            f"How does the table write '{messages.plain(name)}'? The rows are not looked at to find out.",
            LISTS,
            key=_key(draft, name),
            on_change=_choose,
            args=(draft, name),
        )


def guessed(draft: Draft) -> list[str]:
    used = draft.latest[draft.latest["include"] & (draft.latest["kind"] == "categories")]
    return [
        str(name)
        for name, note in zip(used["name"], used["note"], strict=True)
        if sex_like(str(name)) and note in schema_grid.GUESSES
    ]


def _key(draft: Draft, name: str) -> str:
    return f"spelling-{draft.key}-{name}"


def _choose(draft: Draft, name: str) -> None:
    """The callback of a choice: the list stands in the grid, and is no guess any more."""
    chosen = st.session_state.get(_key(draft, name))
    if chosen:
        settings = {"values": chosen, "note": NOTE}
        draft.restart(schema_grid.with_settings(draft.latest, [name], settings), draft.told)
