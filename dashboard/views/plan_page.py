"""Planning a release: choices, price, expected error, one button."""

from __future__ import annotations

import streamlit as st

from core.desk import Desk, HeldTable, Statement
from core.plan import Plan
from core.wording import amount, rows
from dashboard.views import ledger_view, messages, plan_form, result_page, wording
from dashboard.views.plan_form import Offer
from dashboard.views.state import Session
from dashboard.views.wording import percent

FRESH = "fresh-edition"


def show(here: Session, desk: Desk, table: HeldTable) -> None:
    statement = desk.statement(table)
    messages.note(ledger_view.left(statement), "public")
    _earlier(here, table, statement)

    st.header("1 · What to release", divider="gray")
    asked = plan_form.queries(table)
    st.header("2 · How much to spend", divider="gray")
    budget = plan_form.budget(table, statement.left_epsilon)
    count = plan_form.rows()
    if asked is None or budget is None:
        return
    st.header("3 · How", divider="gray")
    found, refused = plan_form.offers(desk, table, asked, budget, count)
    offer = plan_form.choose(found, refused)
    if offer is None:
        st.warning("No mechanism can do this; the reasons are listed above.", icon=":material/warning:")
        return
    st.header("4 · Release", divider="gray")
    offer = _edition(here, desk, table, offer)
    paid = desk.progress(offer.plan.id).state != "unpaid"
    _summary(table, offer, paid)
    _button(here, desk, offer, paid)


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


def _edition(here: Session, desk: Desk, table: HeldTable, offer: Offer) -> Offer:
    """The same plan is the same release; a fresh one is a choice of its own, and is paid for."""
    if desk.progress(offer.plan.id).state == "unpaid":
        return offer
    st.info("This very plan is already paid; its release is stored and free to open.", icon=":material/check_circle:")
    st.button("Open the stored release", on_click=result_page.open_release, args=(here, offer.plan.id))
    if not st.toggle("Make a fresh edition instead: new noise, paid for again", key=FRESH):
        return offer
    edition, plan = 1, offer.plan
    while desk.progress(plan.id).state != "unpaid":
        edition += 1
        plan = desk.plan(
            table, plan.queries, mechanism=plan.mechanism, budget=plan.budget, rows=plan.rows, edition=edition
        )
    messages.note(f"This would be edition {edition}.", "public")
    return Offer(mechanism=offer.mechanism, plan=plan)


def _summary(table: HeldTable, offer: Offer, paid: bool) -> None:
    plan, error = offer.plan, offer.plan.expected_error
    with st.container(border=True):
        cost, accuracy, published = st.columns(3)
        with cost:
            st.markdown("**What it costs**")
            st.write(f"ε = {wording.number(plan.budget.epsilon)}, δ = {wording.number(plan.budget.delta)}")
            st.write("It is paid already." if paid else f"{percent(offer.share)} of what is left, for good.")
            messages.badge("public")
        with accuracy:
            st.markdown("**What error to expect**")
            st.write(f"{error.about}: ±{rows(error.mean)} on average")
            st.write(f"All within ±{rows(error.worst)}, 95 % of the time")
            messages.badge("public")
        with published:
            st.markdown("**What will be published**")
            st.write("; ".join(query.sentence(table.domain) for query in plan.queries) + ".")
            count = "as many as the release estimates" if plan.rows is None else amount(plan.rows)
            st.write(f"Synthetic records ({count}) in all {len(table.domain)} columns; the schema; a certificate.")
            messages.badge("public")
        _unmeasured(table, plan)
        _usefulness(table, offer)


def _unmeasured(table: HeldTable, plan: Plan) -> None:
    measured = {name for query in plan.queries for columns in query.tables(table.domain) for name in columns}
    missing = [messages.plain(name) for name in table.domain.names if name not in measured]
    if missing:
        messages.note(f"In none of the tables, so perhaps pure chance in the records: {', '.join(missing)}.", "public")


def _usefulness(table: HeldTable, offer: Offer) -> None:
    """Compare the noise with a typical count, which only the curator may know."""
    counts = [table.domain.cells(columns) for query in offer.plan.queries for columns in query.tables(table.domain)]
    typical = table.notes["rows"] * len(counts) / sum(counts)
    error = offer.plan.expected_error.mean
    messages.note(
        f"A count in these tables is {rows(typical)} on average, and ±{rows(error)} is "
        f"{percent(error / max(table.notes['rows'], 1))} of the table.",
        "curator only",
    )
    if error > typical:
        st.warning(
            "The noise is larger than a typical count. Fewer columns, fewer bins, a lower order or more budget help.",
            icon=":material/warning:",
        )


def _button(here: Session, desk: Desk, offer: Offer, paid: bool) -> None:
    affordable = desk.affordable(offer.plan)
    if not affordable:
        st.error(
            f"The plan needs {percent(offer.share)} of what is left; choose a smaller epsilon. Nothing was spent.",
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
        args=(here, desk, offer.plan),
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
