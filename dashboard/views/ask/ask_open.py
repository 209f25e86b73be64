"""Finding a session again, or opening one: what it is about, how it answers, and what it takes for good."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.base.errors import DeskError
from core.base.options import options_of
from core.base.wording import amount, plural
from core.desk.desk import Desk
from core.plans.session_plan import SessionPlan
from core.plans.statements import DeskTable, Statement
from core.plans.terms import is_release
from core.privacy.budget import Budget
from core.registry import interactive
from core.schema.domain import Domain
from core.sessions.session import Session
from dashboard.views.budget import ledger_view
from dashboard.views.common import budget_form, messages, option_form, state, wording
from dashboard.views.release import result_page

NEW = "new"
HISTOGRAM, LEARNING = "online-histogram", "online-weights"
FEW_CELLS = 2**14
"""Combinations up to which a noisy histogram answers better than anything that waits for questions."""
MANY_CELLS = 2**20
"""Combinations that a session starts with at most; more is a choice."""


def choose(here: state.PageState, desk: Desk, table: DeskTable) -> Session | None:
    """The session on the page: an earlier one, or None while a new one is described, paid or opened."""
    sessions = {session.id: session for session in desk.sessions(table)}
    waiting = here.opening
    if waiting is not None and waiting[0] == table.id:
        return _opening(here, desk, waiting[1])
    names, labels = [*sessions, NEW], {name: label(session) for name, session in sessions.items()}
    if here.asking not in sessions:
        here.asking = None
    chosen = st.selectbox(
        "Session",
        names,
        index=names.index(here.asking) if here.asking else 0,
        format_func=lambda name: labels.get(name, "Open a new session"),
        # The browser keeps the text it was given: a session that is closed needs a field with the new one.
        key=f"session-{table.id}-{here.asking or ''}-{labels.get(here.asking or '', '')}",
        help="Mechanisms and dates are public.",
    )
    if chosen != NEW:
        here.asking = chosen
        return sessions[chosen]
    _describe(here, desk, table)
    return None


def label(session: Session) -> str:
    """A session in one line."""
    parts = [session.mechanism.title, f"opened {wording.moment(session.opened)}"]
    return " · ".join([*parts, "closed"] if session.status == "closed" else parts)


def _opening(here: state.PageState, desk: Desk, plan_id: str) -> Session | None:
    """A session that is paid and being opened at the desk."""
    progress = desk.progress(plan_id)
    if progress.state == "running":
        result_page.watch(desk, plan_id)
        return None
    if progress.state == "stopped":
        result_page.unfinished(desk, plan_id, progress.note)
        return None
    if progress.state == "ended":
        here.opening = None
        st.error(messages.plain(progress.note), icon=":material/error:")
        return None
    session = desk.session(plan_id)
    here.opening, here.asking = None, session.id
    return session


def _describe(here: state.PageState, desk: Desk, table: DeskTable) -> None:
    statement = desk.statement(table)
    messages.note(ledger_view.left(statement), "public")
    stored = _stored(statement, table)
    if stored:
        _from_release(here, desk, table, stored)
    st.header("1 · What it is about", divider="gray")
    domain = _columns(table)
    if domain is None:
        return
    st.header("2 · How much to spend", divider="gray")
    budget = budget_form.budget(
        f"ask-{table.id}",
        epsilon="0.5" if statement.left_epsilon >= 0.5 else wording.at_most(statement.left_epsilon),
        delta=wording.number(table.budget.delta),
        about="all answers of the session together",
    )
    if budget is None:
        return
    st.header("3 · How", divider="gray")
    plan = _plan(desk, table, domain, budget, stored)
    if plan is None:
        return
    st.header("4 · Open", divider="gray")
    _summary(desk, plan, statement)
    if here.problem:
        st.error(here.problem, icon=":material/error:")
        here.problem = None
    st.button(
        "Open the session",
        type="primary",
        icon=":material/forum:",
        on_click=_submit,
        args=(here, desk, table, plan),
        disabled=not desk.affordable(plan),
    )


def _stored(statement: Statement, table: DeskTable) -> dict[str, str]:
    """Stored releases of this table by plan id, each in one line."""
    return {
        entry.plan_id: ledger_view.line(entry, table)
        for entry in statement.entries
        if entry.status == "stored" and entry.dataset_id == table.id and is_release(entry)
    }


def _from_release(here: state.PageState, desk: Desk, table: DeskTable, stored: dict[str, str]) -> None:
    with st.expander("Ask a release that is already paid, at no cost", icon=":material/history:"):
        chosen = st.selectbox("Release", list(stored), format_func=stored.__getitem__, key=f"ask-release-{table.id}")
        st.button("Ask it", on_click=_follow, args=(here, desk, table, chosen), key="ask-it")


def _follow(here: state.PageState, desk: Desk, table: DeskTable, plan_id: str) -> None:
    try:
        here.asking = desk.ask(table, release=plan_id).id
    except Exception as problem:
        here.problem = messages.sentence(problem)


def _columns(table: DeskTable) -> Domain | None:
    """The columns that may be asked about; at first as many as make a universe of moderate size."""
    first: list[str] = []
    for name in table.domain.names:
        if table.domain.cells([*first, name]) <= MANY_CELLS:
            first.append(name)
    names = st.multiselect(
        "Columns to ask about",
        table.domain.names,
        default=first,
        key=f"ask-columns-{table.id}",
        persist_state="session",
        help="Fewer columns make fewer combinations, and better answers for the same budget.",
    )
    if not names:
        st.info("Choose at least one column.", icon=":material/view_column:")
        return None
    domain = table.domain.project([name for name in table.domain.names if name in names])
    messages.note(f"A record is one of {amount(domain.cells())} combinations of these columns.", "public")
    return domain


def _plan(desk: Desk, table: DeskTable, domain: Domain, budget: Budget, stored: dict[str, str]) -> SessionPlan | None:
    """The priced session."""
    small = domain.cells() <= FEW_CELLS
    first = HISTOGRAM if small else LEARNING
    names = [first, *(name for name in interactive if name != first)]
    name = st.radio(
        "Mechanism",
        names,
        format_func=lambda name: interactive[name].title + (" · **recommended**" if name == first else ""),
        captions=[interactive[name].prefer for name in names],
        key=f"ask-mechanism-{table.id}-{small}",
    )
    try:
        values: dict[str, Any] = {}
        if options := options_of(interactive[name]):
            with st.expander(f"Options of '{interactive[name].title}'", icon=":material/tune:", expanded=True):
                values = option_form.changed(options, option_form.fill(options, domain, f"ask-{table.id}-{name}"))
        lines = {"": "nothing: every combination is as likely as any other", **stored}
        earlier = st.selectbox(
            "Start from", list(lines), format_func=lines.__getitem__, key=f"ask-earlier-{table.id}",
            help="What is public already costs nothing and saves hard answers.",
        )  # fmt: skip
        columns = None if len(domain) == len(table.domain) else list(domain.names)
        return desk.plan_session(
            table, mechanism=name, budget=budget, columns=columns, earlier=earlier or None, **values
        )
    except DeskError as problem:
        st.error(messages.sentence(problem), icon=":material/error:")
        return None


def _summary(desk: Desk, plan: SessionPlan, statement: Statement) -> None:
    share = plan.units / statement.left if statement.left else float("inf")
    limit = plan.hard_answers
    with st.container(border=True):
        st.write(
            f"It takes {wording.percent(share)} of what is left, for good: all of it is reserved now, "
            "whatever will be asked."
        )
        st.write("Any number of answers." if limit is None else f"At most {plural(limit, 'hard answer')}.")
        st.write(plan.expected_error.sentence())
        messages.badge("public")
    if not desk.affordable(plan):
        st.error("That is more than is left; choose a smaller epsilon. Nothing was spent.", icon=":material/error:")


def _submit(here: state.PageState, desk: Desk, table: DeskTable, plan: SessionPlan) -> None:
    """Pay and open in the button's callback: a second click finds the same plan paid."""
    try:
        desk.submit(plan)
        here.opening = (table.id, plan.id)
    except Exception as problem:
        here.problem = messages.sentence(problem)
