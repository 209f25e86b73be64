"""Planning: what, how much, how; compared in one figure and rehearsed for free. Nothing on this page is spent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import streamlit as st

from core.base.errors import DeskError
from core.desk.desk import Desk
from core.planning.simulation.stand_ins import StandIns
from core.plans.plan import Plan
from core.plans.release_terms import ReleaseTerms
from core.plans.statements import DeskTable, Statement
from core.privacy.budget import Budget
from core.queries.kit.protocol import QueryClass
from dashboard.views.budget import spend_list
from dashboard.views.common import budget_form, messages, next_step, wording
from dashboard.views.common.state import PageState
from dashboard.views.plan import (
    class_form,
    comparison,
    current_plan,
    kept_plan,
    measuring_form,
    offers,
    plan_files,
    plan_form,
    rehearsal_form,
)
from dashboard.views.plan.plan_form import ABOUT, Wanted
from dashboard.views.plan.trials import first_trials, trials_view, watcher
from dashboard.views.release import rules_view, size_warning


def show(here: PageState, desk: Desk, table: DeskTable) -> None:
    here.awaited = []
    _steps(here, desk, table)
    if here.awaited:
        watcher.watch(tuple(here.awaited))


def _steps(here: PageState, desk: Desk, table: DeskTable) -> None:
    """From the questions to the plan, as far as it is known by now."""
    statement = desk.statement(table)
    messages.note(spend_list.left(statement), "public")
    kept_plan.offer(here, desk, table)
    plan_files.load(here, table)
    current_plan.drop_if_changed(here, table)

    st.header("1 · What to release", divider="gray")
    asked = class_form.queries(table)
    st.header("2 · How much to spend", divider="gray")
    wanted = plan_form.wanted(table, statement.left_epsilon)
    reached = st.container()
    guessed, count, copies = plan_form.sizes(table, desk.known_rows.of(table))
    if asked is None or wanted is None:
        return
    measure = measuring_form.share(table, asked, wanted)
    st.header("3 · How", divider="gray")
    priced = first_trials.found(
        here,
        first_trials.TRYING,
        (table.id, tuple(asked), wanted, guessed, measure),
        lambda: offers.offers(desk, table, asked, wanted, guessed, measure),
    )
    if priced is None:
        first_trials.keep_typed(table)
        return
    picked = offers.choose(table, asked, priced, statement)
    if picked is None:
        st.warning("No mechanism can do this; the reasons are listed above.", icon=":material/warning:")
        return
    offer, options = picked
    try:
        # What is left decides which noise is drawn, so a spend elsewhere makes another choice of it.
        spent = (len(statement.entries), statement.spent_share)
        choice = first_trials.found(
            here,
            first_trials.PRICING,
            (
                table.id,
                tuple(asked),
                offer.plan.mechanism,
                repr(options),
                wanted,
                guessed,
                measure,
                count,
                copies,
                spent,
            ),
            lambda: _made(desk, table, asked, offer, options, wanted, guessed, measure, count, copies),
        )
    except DeskError as problem:
        st.error(messages.sentence(problem), icon=":material/error:")
        return
    if choice is None:
        return
    made = choice.plan
    with reached:
        _reached(wanted, choice.budget)
    rules_view.show(table, asked, offer.mechanism)
    plan = made.without_table()
    current_plan.keep(here, table, plan)
    kept_plan.keep(here, desk, table, plan)
    _tried(here, desk, table, plan, choice, priced, wanted, statement, guessed)

    st.header("5 · Go on", divider="gray")
    error = made.expected_error
    messages.note(
        f"{offer.mechanism.title} with ε {wording.number(choice.budget.epsilon)}. {messages.plain(error.sentence())}",
        "public",
    )
    size_warning.before(table, asked, error)
    budget_form.pure_noise(made.budget, Budget(1, wanted.delta), chosen=True)
    if not choice.affordable:
        st.warning("This costs more than is left; choose a smaller ε or a larger error.", icon=":material/warning:")
    next_step.link("steps/release.py", "Go on to Release")
    plan_files.save(plan, table.name)


@dataclass(frozen=True, kw_only=True)
class PlannedChoice:
    """One mechanism with its options, as it would be paid for."""

    budget: Budget
    plan: Plan
    affordable: bool
    public: StandIns
    """What its figures were tried on."""


def _made(
    desk: Desk,
    table: DeskTable,
    asked: Sequence[QueryClass],
    offer: offers.Offer,
    options: dict[str, Any],
    wanted: Wanted,
    rows: int,
    measure: Fraction,
    records: int | None,
    copies: int,
) -> PlannedChoice:
    public = desk.stand_ins(table, asked, rows=rows)
    budget = offers.budget_of(desk, table, asked, offer, options, wanted, public, measure)
    plan = desk.plan(
        table,
        asked,
        mechanism=offer.mechanism.name,
        budget=budget,
        records=records,
        measure=measure,
        copies=copies,
        stand_ins=public,
        **options,
    )
    return PlannedChoice(budget=budget, plan=plan, affordable=desk.affordable(plan), public=public)


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
    choice: PlannedChoice,
    priced: offers.Offers,
    wanted: Wanted,
    statement: Statement,
    rows: int,
) -> None:
    """Before anything is paid: the mechanisms side by side, and the plan on public rows."""
    st.header("4 · Compare and rehearse", divider="gray")
    comparison.show(here, desk, table, plan, priced, wanted, rows, rehearsal_form.finished(here, table))
    trials_view.show(here, desk, choice.plan, priced, choice.public)
    rehearsal_form.show(here, desk, table, plan, statement, rows)
