"""Planning: what, how much, how; compared in one figure and rehearsed for free. Nothing on this page is spent."""

from __future__ import annotations

import streamlit as st

from core.base.errors import DeskError
from core.desk.desk import Desk
from core.plans.release_terms import ReleaseTerms
from core.plans.statements import DeskTable, Statement
from core.privacy.budget import Budget
from dashboard.views.budget import ledger_view
from dashboard.views.common import budget_form, messages, wording
from dashboard.views.common.state import PageState
from dashboard.views.plan import class_form, comparison, offers, plan_files, plan_form, rehearsal_form
from dashboard.views.plan.plan_form import ABOUT, Wanted


def show(here: PageState, desk: Desk, table: DeskTable) -> None:
    statement = desk.statement(table)
    messages.note(ledger_view.left(statement), "public")
    plan_files.load(here, table)
    # Until every field is right there is no plan, here and on the Release page.
    here.planned.pop(table.id, None)

    st.header("1 · What to release", divider="gray")
    asked = class_form.queries(table)
    st.header("2 · How much to spend", divider="gray")
    wanted = plan_form.wanted(table, statement.left_epsilon)
    reached = st.container()
    count = plan_form.rows()
    if asked is None or wanted is None:
        return
    st.header("3 · How", divider="gray")
    with st.spinner("Pricing the mechanisms …"):
        priced = offers.offers(here, desk, table, asked, wanted)
    picked = offers.choose(table, asked, priced, statement)
    if picked is None:
        st.warning("No mechanism can do this; the reasons are listed above.", icon=":material/warning:")
        return
    offer, options = picked
    try:
        budget = offers.budget_of(table, asked, offer, options, wanted)
        made = desk.plan(table, asked, mechanism=offer.mechanism.name, budget=budget, records=count, **options)
    except DeskError as problem:
        st.error(messages.sentence(problem), icon=":material/error:")
        return
    with reached:
        _reached(wanted, budget)
    plan = here.planned[table.id] = made.without_table()
    _tried(here, desk, table, plan, priced, wanted, statement)

    st.header("5 · Go on", divider="gray")
    error = made.expected_error
    messages.note(
        f"{offer.mechanism.title} with ε {wording.number(budget.epsilon)}. {messages.plain(error.sentence())}", "public"
    )
    if not desk.affordable(made):
        st.warning("This costs more than is left; choose a smaller ε or a larger error.", icon=":material/warning:")
    st.page_link("steps/release.py", label="Go on to Release", icon=":material/arrow_forward:")
    plan_files.save(plan, table.name)


def _reached(wanted: Wanted, budget: Budget) -> None:
    """What a wanted accuracy costs, where it was asked for."""
    if not isinstance(wanted, Budget):
        st.markdown(f"**This needs ε = {wording.number(budget.epsilon)}**, δ = {wording.number(budget.delta)}")
        budget_form.explained(budget, ABOUT)


def _tried(
    here: PageState,
    desk: Desk,
    table: DeskTable,
    plan: ReleaseTerms,
    priced: offers.Offers,
    wanted: Wanted,
    statement: Statement,
) -> None:
    """Before anything is paid: the mechanisms side by side, and the plan on public rows."""
    st.header("4 · Compare and rehearse", divider="gray")
    rows = rehearsal_form.guess(table)
    comparison.show(here, table, plan, priced, wanted, rows, rehearsal_form.finished(here, table))
    rehearsal_form.show(here, desk, table, plan, statement, rows)
