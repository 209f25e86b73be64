"""Rehearsing a decision on invented or public rows, as often as one likes."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from core.base.errors import BadFile, DeskError
from core.planning.decision_rehearsal import rehearse_decision, rehearse_on_public_rows
from core.plans.decision_plan import DecisionPlan
from core.plans.statements import DeskTable
from dashboard.views.common import messages

RUNS = 5
MOST_ROWS = 20_000
"""Invented rows: a rehearsal stays a matter of seconds."""


def show(table: DeskTable, plan: DecisionPlan) -> None:
    with st.expander("Rehearse for free on invented or public rows", icon=":material/theater_comedy:"):
        st.write(
            "The private table is not touched. Rows are invented from the schema, uneven as real ones are, or come "
            "from a public file, such as an older survey."
        )
        left, right = st.columns(2)
        with left:
            rows = st.number_input("Invented rows", 1, MOST_ROWS, 1_000, key="decide-rows", persist_state="session")
        with right:
            file = st.file_uploader("Or public rows with the same columns: a CSV file", type="csv", key="decide-public")
        if st.button("Rehearse", key="decide-rehearse", icon=":material/play_arrow:"):
            st.session_state["decide-trials"] = (plan.id, _trials(table, plan, int(rows), file))
        found = st.session_state.get("decide-trials")
        if found is not None and found[0] == plan.id and len(found[1]):
            st.dataframe(found[1], hide_index=True, alt="Rehearsals: each decision beside one without privacy.")
            messages.note("Costs, or worth, on those rows; 1 is as good as without privacy.", "public")


def _trials(table: DeskTable, plan: DecisionPlan, rows: int, file: Any) -> pd.DataFrame:
    try:
        with st.spinner("Rehearsing …"):
            decision = plan.build()
            if file is None:
                found = rehearse_decision(decision, table.domain, table.unit, rows, RUNS)
            else:
                found = rehearse_on_public_rows(decision, _read(file), table.domain, table.unit, RUNS)
    except DeskError as problem:
        st.error(messages.plain(messages.sentence(problem)), icon=":material/error:")
        found = []
    return pd.DataFrame(
        [{"private": each.value, "without privacy": each.best, "ratio": round(each.ratio, 3)} for each in found]
    )


def _read(file: Any) -> pd.DataFrame:
    try:
        return pd.read_csv(file, nrows=MOST_ROWS)
    except (ValueError, UnicodeDecodeError):
        raise BadFile("The public rows are no CSV file in UTF-8; save them again as one.") from None
