"""Finding a session again, or opening one: what it is about, how it answers, and what it takes for good."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from core.base.errors import DeskError
from core.base.options import options_of
from core.base.wording import amount, plural
from core.desk.desk import Desk
from core.planning.session_offers import proposed, session_offers
from core.plans.session_plan import SessionPlan
from core.plans.statements import DeskTable, Statement
from core.plans.terms import is_release
from core.privacy.budget import Budget
from core.registry import interactive
from core.schema.domain import Domain
from core.sessions.session import Session
from dashboard.views.ask import session_trial
from dashboard.views.budget import spend_list
from dashboard.views.common import budget_form, messages, option_form, state, wording
from dashboard.views.release import result_page, size_warning

NEW = "new"
PLANNED = "planned"
"""The option that what a session is for is written into."""


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
    messages.note(spend_list.left(statement), "public")
    stored = _stored(statement, table)
    if stored:
        _from_release(here, desk, table, stored)
    st.header("1 · What it is about", divider="gray")
    domain = _columns(table)
    if domain is None:
        return
    planned = _purpose(table, domain)
    st.header("2 · How much to spend", divider="gray")
    budget = budget_form.budget(
        f"ask-{table.id}",
        epsilon="0.5" if statement.left_epsilon >= 0.5 else wording.at_most(statement.left_epsilon),
        delta=wording.number(table.budget.delta),
        about="all answers of the session together",
    )
    if budget is None:
        return
    st.header("3 · Open", divider="gray")
    columns = None if len(domain) == len(table.domain) else list(domain.names)
    best = session_trial.best(desk, table, budget, columns)
    if best is None:
        return
    plan = _plan(desk, table, domain, budget, stored, best, planned)
    if plan is None:
        return
    _summary(desk, plan, statement)
    size_warning.before_session(table, plan.expected_error.mean)
    budget_form.pure_noise(plan.budget, budget, chosen=True)
    session_trial.show(desk, table, plan)
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
        entry.plan_id: spend_list.line(entry, table)
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
    """The columns that may be asked about; at first all of them."""
    names = st.multiselect(
        "Columns to ask about",
        table.domain.names,
        default=table.domain.names,
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


def _purpose(table: DeskTable, domain: Domain) -> tuple[str, ...]:
    """Columns that will mostly be asked together; none for any question."""
    purposes = ("Any question", "Mostly questions that combine some columns")
    chosen = st.selectbox("What it is for", purposes, key=f"ask-purpose-{table.id}", persist_state="session")
    if chosen == purposes[0]:
        return ()
    named = st.multiselect(
        "Columns that are mostly asked together",
        domain.names,
        key=f"ask-planned-{table.id}",
        help="A session that starts from a synthetic table spends more of its opening on tables of these columns.",
    )
    return tuple(name for name in domain.names if name in named)


def _plan(
    desk: Desk,
    table: DeskTable,
    domain: Domain,
    budget: Budget,
    stored: dict[str, str],
    best: str,
    planned: tuple[str, ...],
) -> SessionPlan | None:
    """The priced session: the recommended one, unless another one or other options are chosen."""
    offers = session_offers(domain, table.unit, budget, best)
    names = list(offers.found)
    # What was picked stays while it can be opened, whatever else can be.
    kept = f"ask-mechanism-{table.id}"
    picked, key = st.session_state.get(kept), f"{kept}-{'-'.join(names)}"
    try:
        with st.expander("Another kind of session, or other options", icon=":material/tune:"):
            messages.note("All of them have defaults that work.", "public")
            name = st.radio(
                "Mechanism",
                names,
                format_func=lambda name: interactive[name].title + (" · **recommended**" if name == names[0] else ""),
                captions=[interactive[name].prefer for name in names],
                index=names.index(picked) if picked in names else 0,
                key=key,
                on_change=_keep,
                args=(kept, key),
            )
            for other, problem in offers.refused.items():
                said = messages.plain(messages.sentence(problem))
                messages.note(f"Not offered here: **{interactive[other].title}**. {said}", "public")
            values = _options(table, domain, budget, name, offers.found[name], planned)
            lines = {"": "nothing: every combination is as likely as any other", **stored}
            earlier = None
            if stored and interactive[name].refines:
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


def _options(
    table: DeskTable, domain: Domain, budget: Budget, name: str, offered: Mapping[str, Any], planned: tuple[str, ...]
) -> dict[str, Any]:
    """The options that the form shows, where they are not those that the desk would take by itself."""
    # What the session is for was asked above.
    options = [option for option in options_of(interactive[name]) if option.name != PLANNED]
    named = {PLANNED: planned} if planned and len(options) < len(options_of(interactive[name])) else {}
    if not options:
        return named
    starting = [replace(option, default=offered.get(option.name, option.default)) for option in options]
    # Other proposals are other fields: what was kept in one for a larger budget would now be refused.
    key = "-".join([f"ask-{table.id}-{name}", *(f"{option}-{value}" for option, value in offered.items())])
    shown = option_form.fill(starting, domain, key)
    given = option_form.changed(options, shown)
    # What the form shows counts, also where the desk would propose something else.
    return {**{option: shown[option] for option in proposed(name, budget, given, domain, table.unit)}, **given, **named}


def _keep(kept: str, widget: str) -> None:
    st.session_state[kept] = st.session_state[widget]


def _summary(desk: Desk, plan: SessionPlan, statement: Statement) -> None:
    share = statement.part_of_left(plan.units)
    limit = plan.hard_answers
    with st.container(border=True):
        st.markdown(f"**{interactive[plan.mechanism].title}**")
        st.write(
            f"It takes {wording.percent(share)} of what is left: all of it is reserved now, whatever will be asked. "
            "What was never used comes back when the session is closed."
        )
        st.write("Any number of answers." if limit is None else f"Planned with {plural(limit, 'hard answer')}.")
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
