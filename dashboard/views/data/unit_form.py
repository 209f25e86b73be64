"""Whose privacy is protected: a choice that starts empty for tables of people, because a default would be wrong for
somebody; the demo tables bring theirs."""

from __future__ import annotations

import streamlit as st

from core.privacy.unit import MOST_ROWS, Neighbours, Unit
from dashboard.views.common import messages

ROW, ID = "Each row is another person", "Several rows can belong to one person"


def unit(columns: list[str], origin: str, start: str | None = None) -> Unit | None:
    """The unit that was chosen, or None; what is chosen at first is said by whoever knows the table."""
    kind = st.radio(
        "One person (household, firm …) is",
        [ROW, ID],
        index=None if start is None else (ROW, ID).index(start),
        captions=["one row", "all rows with the same id; a limit says how many of them count"],
        key=f"unit-{origin}",
        persist_state="session",
    )
    if kind is None:
        return None
    column, limit = None, 1
    if kind == ID:
        left, right = st.columns(2)
        guess = next((place for place, name in enumerate(columns) if name.lower().endswith("id")), 0)
        column = left.selectbox("Id column", columns, index=guess, key=f"id-{origin}", persist_state="session")
        limit = right.number_input(
            "Rows used per id",
            min_value=1,
            max_value=MOST_ROWS,
            value=3,
            step=1,
            key=f"limit-{origin}",
            persist_state="session",
            help="A random choice of at most this many rows per id is kept. More rows need more noise.",
        )
    with st.expander("What counts as a neighbouring table"):
        neighbours: Neighbours = st.radio(
            "Two tables are neighbours when one person is",
            ["add-remove", "replace"],
            captions=[
                "added or removed: how many there are stays private",
                "replaced by another: needs about twice the noise",
            ],
            key=f"neighbours-{origin}",
            persist_state="session",
        )
    chosen = Unit(column=column, limit=int(limit), neighbours=neighbours)
    messages.note(messages.plain(chosen.sentence()), "public")
    return chosen
