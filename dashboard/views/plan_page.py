"""Planning a release: choices, price, expected error, one button."""

from __future__ import annotations

import streamlit as st

from core.desk import Desk
from core.held import HeldTable, Statement
from core.plan import Plan
from core.wording import amount, rows
from dashboard.views import class_form, ledger_view, messages, offers, plan_form, result_page, wording
from dashboard.views.offers import Choice
from dashboard.views.state import Session
from dashboard.views.wording import percent

FRESH = "fresh-edition"
LARGE_SHARE = 0.1
"""Answers that are off by more of the table than this say little."""


def show(here: Session, desk: Desk, table: HeldTable) -> None:
    statement = desk.statement(table)
    messages.note(ledger_view.left(statement), "public")
    _earlier(here, table, statement)

    st.header("1 · What to release", divider="gray")
    asked = class_form.queries(table)
    st.header("2 · How much to spend", divider="gray")
    budget = plan_form.budget(table, statement.left_epsilon)
    count = plan_form.rows()
    if asked is None or budget is None:
        return
    st.header("3 · How", divider="gray")
    picked = offers.choose(here, desk, table, asked, budget, statement)
    if picked is None:
        st.warning("No mechanism can do this; the reasons are listed above.", icon=":material/warning:")
        return
    mechanism, options = picked
    choice = offers.plan(desk, table, asked, mechanism, budget, count, options)
    if choice is None:
        return
    st.header("4 · Release", divider="gray")
    choice = _edition(here, desk, table, choice)
    paid = desk.progress(choice.plan.id).state != "unpaid"
    _summary(table, choice, paid)
    _button(here, desk, choice, paid)


def _earlier(here: Session, table: HeldTable, statement: Statement) -> None:
    """Stored and unfinished releases of this table, to be opened again."""
    entries = {entry.plan_id: entry for entry in statement.entries if entry.dataset_id == table.id}
    if not entries:
        return
    with st.expander(f"Earlier releases ({len(entries)})", icon=":material/history:"):
        chosen = st.selectbox(
            "Release",
            list(entries),
            format_func=lambda plan_id: ledger_view.line(entries[plan_id], table),
        )
        st.button("Open it", on_click=result_page.open_release, args=(here, chosen), icon=":material/folder_open:")


def _edition(here: Session, desk: Desk, table: HeldTable, choice: Choice) -> Choice:
    """The same plan is the same release; a fresh one is a choice of its own, and is paid for."""
    if desk.progress(choice.plan.id).state == "unpaid":
        return choice
    st.info("This very plan is already paid; its release is stored and free to open.", icon=":material/check_circle:")
    st.button("Open the stored release", on_click=result_page.open_release, args=(here, choice.plan.id))
    if not st.toggle("Make a fresh edition instead: new noise, paid for again", key=FRESH):
        return choice
    edition, plan = 1, choice.plan
    while desk.progress(plan.id).state != "unpaid":
        edition += 1
        plan = desk.plan(
            table,
            plan.queries,
            mechanism=plan.mechanism,
            budget=plan.budget,
            records=plan.records,
            edition=edition,
            **plan.options,
        )
    messages.note(f"This would be edition {edition}.", "public")
    return Choice(mechanism=choice.mechanism, plan=plan)


def _summary(table: HeldTable, choice: Choice, paid: bool) -> None:
    plan, error = choice.plan, choice.plan.expected_error
    with st.container(border=True):
        cost, accuracy, published = st.columns(3)
        with cost:
            st.markdown("**What it costs**")
            st.write(f"ε = {wording.number(plan.budget.epsilon)}, δ = {wording.number(plan.budget.delta)}")
            st.write("It is paid already." if paid else f"{percent(choice.share)} of what is left, for good.")
            messages.badge("public")
        with accuracy:
            st.markdown("**What error to expect**")
            st.write(f"{error.about}: ±{rows(error.mean)} on average")
            st.write(f"All within ±{rows(error.worst)}, 95 % of the time")
            messages.badge("public")
        with published:
            st.markdown("**What will be published**")
            st.write(messages.plain("; ".join(query.sentence(table.domain) for query in plan.queries) + "."))
            count = "as many as the release estimates" if plan.records is None else amount(plan.records)
            st.write(f"Synthetic records ({count}) in all {len(table.domain)} columns; the schema; a certificate.")
            messages.badge("public")
        _unmeasured(table, plan)
        _usefulness(table, choice)


def _unmeasured(table: HeldTable, plan: Plan) -> None:
    seen = {name for query in plan.queries for columns in class_form.tables_of(query, table.domain) for name in columns}
    missing = [messages.plain(name) for name in table.domain.names if name not in seen]
    if missing:
        messages.note(f"In none of the tables, so perhaps pure chance in the records: {', '.join(missing)}.", "public")


def _usefulness(table: HeldTable, choice: Choice) -> None:
    """Compare the noise with the table, and counts of cells with a typical one, which only the curator may know."""
    held, error = table.notes["rows"], choice.plan.expected_error.mean
    share = error / max(held, 1)
    text, large = f"±{rows(error)} is {percent(share)} of the table.", share > LARGE_SHARE
    if all(query.name == "marginals" for query in choice.plan.queries):
        sizes = [table.domain.cells(columns) for query in choice.plan.queries for columns in query.tables(table.domain)]
        typical = held * len(sizes) / sum(sizes)
        text, large = f"A count in these tables is {rows(typical)} on average, and {text}", error > typical
    messages.note(text, "curator only")
    if large:
        st.warning(
            "The noise is larger than a typical count. Fewer columns, fewer bins, a smaller class or more budget help.",
            icon=":material/warning:",
        )


def _button(here: Session, desk: Desk, choice: Choice, paid: bool) -> None:
    affordable = desk.affordable(choice.plan)
    if not affordable:
        st.error(
            f"The plan needs {percent(choice.share)} of what is left; choose a smaller epsilon. Nothing was spent.",
            icon=":material/error:",
        )
    if here.problem:
        st.error(here.problem, icon=":material/error:")
        here.problem = None
    st.button(
        "Release",
        type="primary",
        icon=":material/publish:",
        on_click=_submit,
        args=(here, desk, choice.plan),
        disabled=paid or not affordable,
        key="release",
    )


def _submit(here: Session, desk: Desk, plan: Plan) -> None:
    """Pay and start, in the button's callback: a second click finds the plan paid and only follows it."""
    try:
        desk.submit(plan)
        here.shown = plan.id
    except Exception as problem:
        here.problem = messages.sentence(problem)
    # Another fresh edition must be asked for again, or an impatient click would pay for it.
    st.session_state[FRESH] = False
