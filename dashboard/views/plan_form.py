"""How much to spend, and how many records to draw."""

from __future__ import annotations

import streamlit as st

from core.held import HeldTable
from core.privacy import Budget
from dashboard.views import budget_form
from dashboard.views.wording import at_most, number

MOST_ROWS = 20_000_000


def rows() -> int | None:
    chosen = st.number_input(
        "Synthetic rows",
        min_value=1,
        max_value=MOST_ROWS,
        value=None,
        step=1000,
        placeholder="as many as the release estimates",
        key="rows",
        persist_state="session",
        help="Empty: about as many as the table has. The number itself costs nothing.",
    )
    return None if chosen is None else int(chosen)


def budget(table: HeldTable, left_epsilon: float) -> Budget | None:
    return budget_form.budget(
        f"release-{table.id}",
        epsilon="1" if left_epsilon >= 1 or left_epsilon <= 0 else at_most(left_epsilon),
        delta=number(table.budget.delta),
        about="this release",
    )
