"""Rehearsing a decision on invented rows, as often as one likes."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.base.errors import DeskError
from core.planning.decision_rehearsal import rehearse_decision
from core.plans.decision_plan import DecisionPlan
from core.plans.statements import DeskTable
from dashboard.views.common import messages

RUNS = 5
MOST_ROWS = 20_000
"""Invented rows: a rehearsal stays a matter of seconds."""


def show(table: DeskTable, plan: DecisionPlan) -> None:
    with st.expander("Rehearse for free on invented rows", icon=":material/theater_comedy:"):
        st.write("The private table is not touched. Rows are invented from the schema, uneven as real ones are.")
        rows = st.number_input("Invented rows", 1, MOST_ROWS, 1_000, key="decide-rows", persist_state="session")
        if st.button("Rehearse", key="decide-rehearse", icon=":material/play_arrow:"):
            st.session_state["decide-trials"] = (plan.id, _trials(table, plan, int(rows)))
        found = st.session_state.get("decide-trials")
        if found is not None and found[0] == plan.id:
            st.dataframe(found[1], hide_index=True, alt="Rehearsals: each decision beside one without privacy.")
            messages.note("Costs, or worth, on invented rows; 1 is as good as without privacy.", "public")


def _trials(table: DeskTable, plan: DecisionPlan, rows: int) -> pd.DataFrame:
    try:
        with st.spinner("Rehearsing …"):
            found = rehearse_decision(plan.build(), table.domain, table.unit, rows, RUNS)
    except DeskError as problem:
        st.error(messages.plain(messages.sentence(problem)), icon=":material/error:")
        found = []
    return pd.DataFrame(
        [{"private": each.value, "without privacy": each.best, "ratio": round(each.ratio, 3)} for each in found]
    )
