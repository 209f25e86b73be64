"""A workspace that was put back from an older copy: what it has forgotten, and how it is entered again."""

from __future__ import annotations

import streamlit as st

from core.base.wording import plural
from core.desk.desk import Desk
from core.plans.terms import read_terms
from dashboard.views.budget import spend_list
from dashboard.views.common import messages, wording


def show(desk: Desk) -> None:
    """Nothing where nothing is lost, as nearly always."""
    lost = desk.lost()
    if not lost:
        return
    with st.container(border=True):
        st.error(
            "This workspace was put back from an older copy: what was spent since is missing. Nothing is spent until "
            "it is entered.",
            icon=":material/history:",
        )
        for spend in lost.spends:
            terms = read_terms(spend.plan_json)
            line = f"{spend_list.title(terms)}, ε {wording.number(terms.budget.epsilon)}, paid {spend.reserved_at[:10]}"
            messages.note(messages.plain(line), "public")
        if lost.results:
            messages.note(f"{plural(len(lost.results), 'result')} that may have been seen.", "public")
        st.write(
            "They are entered at their old price. Their results cannot be drawn again; releases that were saved or "
            "shared elsewhere stay valid. Sessions that have forgotten answers close with the next question."
        )
        st.button(
            "Enter what was lost",
            type="primary",
            icon=":material/edit_note:",
            key="enter-lost",
            on_click=_enter,
            args=(desk,),
        )


def _enter(desk: Desk) -> None:
    desk.enter_lost()
