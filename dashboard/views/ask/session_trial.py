"""What a session will do, from trials on public tables: which is recommended, and how long it holds at which error."""

from __future__ import annotations

import streamlit as st

from core.desk.desk import Desk
from core.plans.canonical import canonical
from core.plans.session_plan import SessionPlan
from core.plans.statements import DeskTable
from core.privacy.budget import Budget
from dashboard.views.ask import trial_queue
from dashboard.views.common import messages


def best(desk: Desk, table: DeskTable, budget: Budget, columns: list[str] | None) -> str | None:
    """The recommended session; None while several are tried."""
    tried = desk.session_choice.candidates(table, budget, columns)
    first = next(iter(tried))
    if len(tried) == 1:
        return first
    key = canonical({"best": table.id, "columns": columns, "budget": budget.to_json()})
    trials = trial_queue.queue()
    found = trials.find(key, lambda: desk.try_session(table, budget, columns=columns))
    if found is not None:
        return found.name
    if not trials.runs(key):
        return first
    _watch(key, "Trying sessions on public tables, to recommend one")
    return None


def show(desk: Desk, table: DeskTable, plan: SessionPlan) -> None:
    """How many questions at which error, as soon as a trial has told."""
    key = canonical({"plan": plan.id})
    trials = trial_queue.queue()
    found = trials.find(
        key,
        lambda: desk.try_session(
            table, plan.budget, columns=plan.columns, mechanism=plan.mechanism, **dict(plan.options)
        ),
    )
    if found is not None:
        messages.note(messages.plain(found.sentence()), "public")
    elif trials.runs(key):
        _watch(key, "Playing this session on a public table, to tell how far off it will be")


@st.fragment(run_every=1)
def _watch(key: str, what: str) -> None:
    """Look every second; when the trial has ended the page shows what it found."""
    with messages.guarded():
        if not trial_queue.queue().runs(key):
            st.rerun()
        st.caption(f"{what} …")
