"""Changing a total budget: possible, deliberate, and on record."""

from __future__ import annotations

import json

import streamlit as st

from core.desk.desk import Desk
from core.ledger.ledger import Override
from core.plans.statements import DeskTable, Statement
from core.privacy.budget import Budget
from dashboard.views.common import messages, wording


def change(desk: Desk, table: DeskTable, statement: Statement) -> None:
    with st.expander("Change the total", icon=":material/edit:"):
        st.write("A larger total weakens the promise to everyone in the table. Change and reason stay on record.")
        with st.form("change-budget", border=False):
            left, right = st.columns(2)
            epsilon = left.text_input("New total ε", wording.number(statement.budget.epsilon))
            delta = right.text_input("New total δ", wording.number(statement.budget.delta))
            reason = st.text_input("Reason", placeholder="who decided it, and why")
            if st.form_submit_button("Change the total"):
                with messages.guarded():
                    if not reason.strip():
                        st.error("Give a reason; it is kept on record.", icon=":material/error:")
                    else:
                        desk.change_budget(table, Budget(epsilon.strip(), delta.strip() or "0"), reason=reason)
                        st.rerun()
    if statement.changes:
        st.subheader("Changes of the total")
        for found in statement.changes:
            messages.note(messages.plain(_sentence(found)), "curator only")


def _sentence(found: Override) -> str:
    """When a total was changed, from what to what, and why."""
    before, after = (Budget.from_json(json.loads(text)) for text in (found.from_budget, found.to_budget))
    return f"{wording.moment(found.at)}: from {_total(before)} to {_total(after)}. Reason: {found.reason}"


def _total(budget: Budget) -> str:
    return f"ε {wording.number(budget.epsilon)}, δ {wording.number(budget.delta)}"
