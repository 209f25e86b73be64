"""Columns that the file does not name, or names twice: shown by their number, to be named here or left out."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.schema.guesses import draft as guessed
from core.schema.guesses import nameless
from dashboard.views.common import messages
from dashboard.views.data import schema_grid
from dashboard.views.data.draft import Draft

MOST = 12
"""Columns that are asked about; a file with more of them has no header."""
LONGEST = 200


def show(draft: Draft) -> None:
    """A field for each of them; nothing where every column has a name."""
    given = {shown: own for own, shown in draft.names.items()}
    unnamed = [given.get(name, name) for name, _ in draft.columns if name in given or nameless(name)]
    if not unnamed:
        return
    columns = [name for name, _ in draft.columns]
    with st.container(border=True):
        st.markdown(f"**Columns without a name of their own: {len(unnamed)}**")
        st.caption(
            "The file gives no name, or the same one twice, so the number stands for it. Such a column is left out of "
            "every release until you tick it in the grid; name it here if you know what it is."
        )
        for number, own in enumerate(unnamed[:MOST]):
            if number % 3 == 0:
                # Row by row: on a phone, and for whoever cannot see it, they come in the order of the file.
                places = st.columns(3)
            places[number % 3].text_input(
                f"Name of {own}{_place(columns, draft.names.get(own, own))}",
                draft.names.get(own, ""),
                key=_key(draft, own),
                max_chars=LONGEST,
                placeholder="left out",
                on_change=_name,
                args=(draft, own),
            )
        if len(unnamed) > MOST:
            st.caption(f"And {len(unnamed) - MOST} more: does the first line of the file hold column names?")


def _place(columns: list[str], name: str) -> str:
    """Where a column stands in the file, by which somebody who has it open finds it."""
    place = columns.index(name)
    if place == 0:
        return ", the first"
    return f", after '{messages.plain(columns[place - 1])}'"


def _key(draft: Draft, own: str) -> str:
    return f"name-{draft.identity}-{own}"


def _name(draft: Draft, own: str) -> None:
    """The field's callback: the column has this name from now on, in the grid and for whoever reads the file."""
    before = draft.names.get(own, own)
    name = str(st.session_state.get(_key(draft, own), "")).strip() or own
    if name == before:
        return
    if name in {column for column, _ in draft.columns}:
        st.toast(f"Another column is called '{messages.plain(name)}'; choose another name.", icon=":material/error:")
        st.session_state[_key(draft, own)] = "" if before == own else before
        return
    draft.names.pop(own, None)
    if name != own:
        draft.names[own] = name
    draft.columns = tuple((name if column == before else column, kind) for column, kind in draft.columns)
    draft.restart(_renamed(draft, before, name), draft.told)


def _renamed(draft: Draft, before: str, name: str) -> pd.DataFrame:
    """The grid with the new name and what it suggests, ticked unless it is an id or lost its name again."""
    frame = draft.latest.copy()
    here = frame["name"] == before
    frame.loc[here, "include"] = schema_grid.useful(name)
    frame.loc[here, "name"] = name
    kind = dict(draft.columns)[name]
    return schema_grid.with_lines(frame, guessed([(name, kind)]), "")
