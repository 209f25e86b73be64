"""Choosing a problem and its public part, its price and its promise, and one button that cannot be taken back."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.base.errors import DeskError
from core.base.options import options_of
from core.base.wording import amount
from core.desk.desk import Desk
from core.plans.decision_plan import DecisionPlan
from core.plans.statements import DeskTable, Statement
from core.plans.terms import is_decision
from core.registry import decisions, problems
from dashboard.views.budget import spend_list
from dashboard.views.common import budget_form, messages, option_form, wording
from dashboard.views.common.state import PageState
from dashboard.views.decide import decision_rehearsals, decision_view
from dashboard.views.release import result_page, share_form


def show(here: PageState, desk: Desk, table: DeskTable) -> None:
    statement = desk.statement(table)
    messages.note(spend_list.left(statement), "public")
    _earlier(here, desk, table, statement)
    if here.decided is not None and here.decided[0] == table.id:
        _paid(here, desk, table, here.decided[1])
        return
    plan = _chosen(here, desk, table)
    if here.problem:
        st.error(here.problem, icon=":material/error:")
        here.problem = None
    if plan is not None:
        _summary(here, desk, table, plan, statement)


def _chosen(here: PageState, desk: Desk, table: DeskTable) -> DecisionPlan | None:
    """What is asked for, priced; None with one sentence on what is missing or wrong."""
    st.header("What is to be decided", divider="gray")
    problem = st.selectbox(
        "Problem", list(problems), format_func=problems.__getitem__, key="decide-problem", persist_state="session"
    )
    ways = [name for name, kind in decisions.items() if kind.problem == problem]
    name = ways[0]
    if len(ways) > 1:
        name = st.selectbox(
            "How",
            ways,
            format_func=lambda each: decisions[each].title + (" (for study)" if decisions[each].for_study else ""),
            key=f"decide-how-{problem}",
            persist_state="session",
        )
    kind = decisions[name]
    messages.note(messages.plain(kind.prefer), "public")
    st.subheader("The public part")
    st.write("Everything that is entered here is public and becomes part of the certificate. The rows stay private.")
    options = options_of(kind)
    values = option_form.fill(options, table.domain, f"decide-{name}-{table.id}", single=True)
    st.subheader("Budget")
    budget = budget_form.budget("decide", epsilon="0.5", delta="0", about="this decision")
    if budget is None:
        return None
    missing = [option.label for option in options if option.required and not values[option.name]]
    if missing:
        st.info(f"Still to be filled in: {', '.join(missing)}.", icon=":material/edit_note:")
        return None
    public: dict[str, Any] = option_form.changed(options, values)
    try:
        return desk.plan_decision(table, name, public=public, budget=budget)
    except DeskError as problem_found:
        st.error(messages.plain(messages.sentence(problem_found)), icon=":material/error:")
        return None


def _summary(here: PageState, desk: Desk, table: DeskTable, plan: DecisionPlan, statement: Statement) -> None:
    st.header("What you are about to decide", divider="gray")
    paid = desk.progress(plan.id).state != "unpaid"
    share = statement.part_of_left(plan.units)
    with st.container(border=True):
        promise, cost = st.columns(2)
        with promise:
            st.markdown("**What is proven**")
            st.write(messages.plain(plan.guarantee))
            messages.badge("public")
        with cost:
            st.markdown("**What it costs**")
            st.write(f"ε = {wording.number(plan.budget.epsilon)}, δ = {wording.number(plan.budget.delta)}")
            st.write("It is paid already." if paid else f"{wording.percent(share)} of what is left, for good.")
            st.write(messages.plain(table.unit.sentence()))
            messages.badge("public")
    _misfits(desk, table, plan)
    decision_rehearsals.show(table, plan)
    affordable = desk.affordable(plan)
    if not affordable:
        st.error("The budget that is left does not pay for this decision. Nothing was spent.", icon=":material/error:")
    st.button(
        "Open the stored decision" if paid else "Decide",
        type="primary",
        icon=":material/gavel:",
        key="decide",
        disabled=not affordable,
        on_click=_submit,
        args=(here, desk, plan),
    )
    if not paid:
        st.write("Paid when you press; nothing can be taken back. The same choice again is the same decision.")


def _misfits(desk: Desk, table: DeskTable, plan: DecisionPlan) -> None:
    """How many cells of the columns in use the schema had to move, and rows that are no edge or element of their own;
    they never stop a decision."""
    used = [plan.public.get(name) or () for name in ("columns", "column", "label", "weight")]
    names = [name for each in used for name in ([each] if isinstance(each, str) else each)]
    found = {name: count for name in names if (count := table.notes["misfits"].get(name, 0))}
    if found:
        listed = ", ".join(f"{amount(count)} of '{messages.plain(name)}'" for name, count in found.items())
        messages.note(
            f"Cells that did not fit the schema: {listed}. They were moved to its bounds, or count for nothing.",
            "curator only",
        )
        first = [f"'{messages.plain(name)}' as '{messages.plain(table.domain[name].label(0))}'" for name in found]
        if alike := [said for name, said in zip(found, first, strict=True) if _counts_as_first(table, name)]:
            messages.note(
                f"Undeclared values count as the first one: {', '.join(alike)}. Give the column a cell for other "
                "values in the schema, and such rows are left out.",
                "curator only",
            )
    if rows := _rows_left_out(plan.id, desk, plan):
        listed = "; ".join(f"{amount(count)} {kind}" for kind, count in rows.items())
        messages.note(f"Rows: {listed}.", "curator only")


def _counts_as_first(table: DeskTable, name: str) -> bool:
    """Whether a column of categories has no cell for values that are not declared."""
    attribute = table.domain[name]
    return not attribute.numeric and attribute.size == attribute.regular


@st.cache_data(max_entries=16, show_spinner=False, scope="session")
def _rows_left_out(key: str, _desk: Desk, _plan: DecisionPlan) -> dict[str, int]:
    return _desk.misfits(_plan)


def _submit(here: PageState, desk: Desk, plan: DecisionPlan) -> None:
    """Pay and start, in the button's callback: a second click finds the plan paid and only follows it."""
    try:
        desk.submit(plan)
        here.decided = (plan.table, plan.id)
    except Exception as problem:
        here.problem = messages.sentence(problem)


def _earlier(here: PageState, desk: Desk, table: DeskTable, statement: Statement) -> None:
    """Decisions of this table, to be opened again."""
    entries = {
        entry.plan_id: entry for entry in statement.entries if entry.dataset_id == table.id and is_decision(entry)
    }
    if not entries:
        return
    with st.expander(f"Earlier decisions ({amount(len(entries))})", icon=":material/history:"):
        chosen = st.selectbox(
            "Decision", list(entries), format_func=lambda plan_id: spend_list.line(entries[plan_id], table)
        )
        st.button("Open it", on_click=_open, args=(here, table.id, chosen), icon=":material/folder_open:")
        messages.note("What was paid, and when, may be published.", "public")


def _open(here: PageState, table: str, plan_id: str) -> None:
    here.decided = (table, plan_id)


def _paid(here: PageState, desk: Desk, table: DeskTable, plan_id: str) -> None:
    """A decision that is paid for: its progress, then what was decided."""
    if st.button("Decide something else", icon=":material/arrow_back:"):
        here.decided = None
        st.rerun()
    progress = desk.progress(plan_id)
    if progress.state == "running":
        result_page.watch(desk, plan_id)
    elif progress.state == "stopped":
        result_page.unfinished(desk, plan_id, progress.note)
    elif progress.state == "ended":
        st.error(messages.plain(progress.note), icon=":material/error:")
    elif (stored := desk.decision(plan_id)) is None:
        st.error("This desk holds no such decision.", icon=":material/error:")
    else:
        st.success("Decided, stored and paid. Opening it again costs nothing.", icon=":material/check_circle:")
        decision_view.show(stored, table.name)
        share_form.show(desk, plan_id, table.name)
