"""The plan that a curator was making when the page was closed: kept in the workspace, offered in the next visit."""

from __future__ import annotations

import streamlit as st

from core.desk.desk import Desk
from core.plans.plan_file import read_plan_file, write_plan_file
from core.plans.release_terms import ReleaseTerms
from core.plans.statements import DeskTable
from core.plans.terms import is_release
from dashboard.door import access
from dashboard.views.common import messages
from dashboard.views.common.state import PageState, PlanDraft
from dashboard.views.plan import plan_fill


def offer(here: PageState, desk: Desk, table: DeskTable) -> None:
    """The plan of an earlier visit, unless it is the one that the page begins with anyway."""
    who = access.curator()
    if who is None:
        return
    if table.id not in here.plan_drafts:
        here.plan_drafts[table.id] = PlanDraft(_unreleased(desk, table, desk.drafts.plan(who, table.id)))
    draft = here.plan_drafts[table.id]
    if draft.kept is None or draft.first in (None, draft.kept):
        return
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        st.markdown("**You were making another plan for this table.**")
        st.button("Go on with that plan", icon=":material/history:", on_click=_resume, args=(here, table, draft))
        st.button(
            "Discard it", key="plan-discard", icon=":material/delete:", on_click=_discard, args=(desk, table, draft)
        )


def keep(here: PageState, desk: Desk, table: DeskTable, plan: ReleaseTerms) -> None:
    """Write the plan down if it changed; what the page begins with is no work of anybody's yet."""
    who = access.curator()
    draft = here.plan_drafts.get(table.id)
    if who is None or draft is None:
        return
    text = write_plan_file(plan)
    if draft.first is None:
        draft.first = draft.written = text
        if draft.kept is not None and draft.kept != text:
            st.rerun()  # so that the offer stands above the forms
    elif text != draft.written:
        desk.drafts.write_plan(who, table.id, text)
        draft.kept, draft.written = None, text


def _unreleased(desk: Desk, table: DeskTable, kept: str | None) -> str | None:
    """A plan that was paid since is finished: Release has it, and it is not offered again."""
    paid = [entry for entry in desk.statement(table).entries if entry.dataset_id == table.id and is_release(entry)]
    return None if kept in [write_plan_file(ReleaseTerms.read(entry.plan_json)) for entry in paid] else kept


def _resume(here: PageState, table: DeskTable, draft: PlanDraft) -> None:
    """In a button's callback: fields can be filled before they are drawn only."""
    try:
        plan_fill.apply(table, read_plan_file(draft.kept or ""))
    except Exception as problem:
        here.problem = messages.sentence(problem)
    draft.kept = None


def _discard(desk: Desk, table: DeskTable, draft: PlanDraft) -> None:
    who = access.curator()
    if who is not None:
        desk.drafts.remove_plan(who, table.id)
    draft.kept = None
