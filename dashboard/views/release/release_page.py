"""Releasing: everything that was chosen on one page, its price, and one button that cannot be taken back."""

from __future__ import annotations

import streamlit as st

from core.base.errors import DeskError
from core.base.odds import odds
from core.base.wording import amount, rows
from core.desk.desk import Desk
from core.plans.plan import Plan
from core.plans.release_terms import ReleaseTerms
from core.plans.statements import DeskTable, Statement
from core.plans.terms import is_release
from core.queries.kit.focus import asked_tables
from core.registry import mechanism_from
from dashboard.views.budget import spend_list
from dashboard.views.common import budget_form, label_form, messages, wording
from dashboard.views.common.state import PageState
from dashboard.views.common.wording import percent
from dashboard.views.release import remaining_time, result_page, size_warning

FRESH = "fresh-edition"
LARGE_SHARE = 0.1
"""Answers that are off by more of the table than this say little."""


def show(here: PageState, desk: Desk, table: DeskTable) -> None:
    statement = desk.statement(table)
    messages.note(spend_list.left(statement), "public")
    _earlier(here, desk, table, statement)
    chosen = here.planned.get(table.id)
    if chosen is None:
        st.info("Nothing is planned for this table yet, or not to the end.", icon=":material/edit_note:")
        st.page_link("steps/plan.py", label="Go to Plan", icon=":material/arrow_back:")
        return
    plan = _priced(desk, table, chosen, edition=1)
    if plan is None:
        st.page_link("steps/plan.py", label="Change the plan", icon=":material/arrow_back:")
        return
    desk.get_ready()
    st.header("What you are about to release", divider="gray")
    plan = _edition(here, desk, table, chosen, plan)
    paid = desk.progress(plan.id).state != "unpaid"
    share = statement.part_of_left(plan.units)
    _summary(table, plan, share, paid)
    _button(here, desk, plan, share, paid)
    st.page_link("steps/plan.py", label="Change the plan", icon=":material/arrow_back:")


def _priced(desk: Desk, table: DeskTable, chosen: ReleaseTerms, edition: int) -> Plan | None:
    """The plan at today's price, or None with one sentence on what no longer fits."""
    try:
        return desk.plan_from(table, chosen, edition=edition)
    except DeskError as problem:
        st.error(messages.sentence(problem), icon=":material/error:")
        return None


def _earlier(here: PageState, desk: Desk, table: DeskTable, statement: Statement) -> None:
    """Stored and unfinished releases of this table, to be opened again."""
    found = [entry for entry in statement.entries if entry.dataset_id == table.id and is_release(entry)]
    lines = {entry.plan_id: result_page.called(desk, entry, table) for entry in found}
    away = {plan_id: line for plan_id, line in lines.items() if desk.labels.of(plan_id).archived}
    kept = [plan_id for plan_id in lines if plan_id not in away]
    if kept:
        with st.expander(f"Earlier releases ({len(kept)})", icon=":material/history:"):
            chosen = st.selectbox("Release", kept, format_func=lambda plan_id: lines[plan_id])
            st.button("Open it", on_click=result_page.open_release, args=(here, chosen), icon=":material/folder_open:")
            messages.note("What was paid, and when, may be published.", "public")
    label_form.put_away(desk, away, "release")


def _edition(here: PageState, desk: Desk, table: DeskTable, chosen: ReleaseTerms, plan: Plan) -> Plan:
    """The same plan is the same release; a fresh one is a choice of its own, and is paid for."""
    if desk.progress(plan.id).state == "unpaid":
        return plan
    st.info("This very plan is already paid; its release is stored and free to open.", icon=":material/check_circle:")
    st.button("Open the stored release", on_click=result_page.open_release, args=(here, plan.id))
    if not st.toggle("Make a fresh edition instead: new noise, paid for again", key=FRESH):
        return plan
    edition = 1
    while desk.progress(plan.id).state != "unpaid":
        edition += 1
        plan = _priced(desk, table, chosen, edition) or plan
    messages.note(f"This would be edition {edition}.", "public")
    return plan


def _summary(table: DeskTable, plan: Plan, share: float, paid: bool) -> None:
    """Everything that was decided: what, how, for whom, at what price and with what error."""
    with st.container(border=True):
        what, how = st.columns(2)
        with what:
            st.markdown("**What will be published**")
            st.write(messages.plain("; ".join(query.sentence(table.domain) for query in plan.queries) + "."))
            count = "as many as the release estimates" if plan.records is None else amount(plan.records)
            st.write(f"Synthetic records ({count}) in all {len(table.domain)} columns; the schema; a certificate.")
            if plan.copies:
                st.write(f"{amount(plan.copies)} synthetic copies to make intervals from; they cost nothing.")
            _unmeasured(table, plan)
            messages.badge("public")
        with how:
            st.markdown("**How**")
            built = mechanism_from(plan.mechanism, plan.queries, plan.budget, plan.options)
            st.write(f"{built.title}, {_options(plan)}; takes {_takes(table, plan)}.")
            st.write(f"Table '{messages.plain(table.name)}'. {messages.plain(table.unit.sentence())}")
            messages.badge("public")
        cost, accuracy = st.columns(2)
        with cost:
            st.markdown("**What it costs**")
            st.write(f"ε = {wording.number(plan.budget.epsilon)}, δ = {wording.number(plan.budget.delta)}")
            budget_form.pure_noise(plan.budget, table.budget, chosen=False)
            st.write("It is paid already." if paid else f"{percent(share)} of what is left, for good.")
            if plan.measure:
                st.write(f"{percent(float(plan.measure))} of it measures the errors of the finished release.")
            st.write(odds(float(plan.budget.epsilon), float(plan.budget.delta)))
            budget_form.warn(plan.budget)
            messages.badge("public")
        with accuracy:
            error = plan.expected_error
            st.markdown("**What error to expect**")
            st.write(f"{error.about}: ±{rows(error.mean)} on average")
            st.write(f"All within ±{rows(error.worst)}, 95 % of the time")
            messages.badge("public")
            _usefulness(table, plan)


def _takes(table: DeskTable, plan: Plan) -> str:
    """The time of the whole release, by the public size of the table."""
    figure = plan.expected_error
    one = figure.seconds + remaining_time.packing(len(table.domain), plan.records or figure.rows)
    return wording.duration(one * (1 + plan.copies))


def _options(plan: Plan) -> str:
    """The settings that are not the usual ones."""
    changed = ", ".join(f"{name} {value}" for name, value in plan.options.items())
    return f"with {messages.plain(changed)}" if changed else "with its usual settings"


def _unmeasured(table: DeskTable, plan: Plan) -> None:
    seen = {name for query in plan.queries for columns in asked_tables(query, table.domain) for name in columns}
    missing = [messages.plain(name) for name in table.domain.names if name not in seen]
    if missing:
        st.write(f"In none of the tables, so perhaps pure chance in the records: {', '.join(missing)}.")


def _usefulness(table: DeskTable, plan: Plan) -> None:
    """Compare the noise with the table, and counts of cells with a typical one, which only the curator may know."""
    exact, error = table.notes["rows"], plan.expected_error.mean
    share = error / max(exact, 1)
    text, large = f"±{rows(error)} is {percent(share)} of the table.", share > LARGE_SHARE
    if all(query.name == "marginals" for query in plan.queries):
        sizes = [table.domain.cells(columns) for query in plan.queries for columns in query.tables(table.domain)]
        typical = exact * len(sizes) / sum(sizes)
        text, large = f"A count in these tables is {rows(typical)} on average, and {text}", error > typical
    messages.note(text, "curator only")
    if size_warning.before(table, plan.queries, plan.expected_error):
        return
    if large:
        st.warning(
            "The noise is larger than a typical count. Fewer columns, fewer bins, a smaller class or more budget help.",
            icon=":material/warning:",
        )


def _button(here: PageState, desk: Desk, plan: Plan, share: float, paid: bool) -> None:
    affordable = desk.affordable(plan)
    if not affordable:
        st.error(
            f"The plan needs {percent(share)} of what is left; choose a smaller epsilon. Nothing was spent.",
            icon=":material/error:",
        )
    if here.problem:
        st.error(here.problem, icon=":material/error:")
        here.problem = None
    if not paid and affordable:
        messages.note("Pressed once, it is paid for good: neither budget nor release can be taken back.", "public")
    st.button(
        "Release",
        type="primary",
        icon=":material/publish:",
        on_click=_submit,
        args=(here, desk, plan),
        disabled=paid or not affordable,
        key="release",
    )


def _submit(here: PageState, desk: Desk, plan: Plan) -> None:
    """Pay and start, in the button's callback: a second click finds the plan paid and only follows it."""
    try:
        desk.submit(plan)
        here.shown = plan.id
    except Exception as problem:
        here.problem = messages.sentence(problem)
    # Another fresh edition must be asked for again, or an impatient click would pay for it.
    st.session_state[FRESH] = False
