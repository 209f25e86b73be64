"""The mechanisms that fit, side by side: expected error against epsilon, theorems and rehearsals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from core.base.errors import DeskError
from core.base.wording import plural
from core.desk.desk import Desk
from core.mechanisms.kit.protocol import Mechanism
from core.mechanisms.kit.proven import Proven
from core.planning.better_noise import build
from core.planning.budget_for import ErrorKind
from core.planning.simulation.curve import along
from core.planning.simulation.stand_ins import StandIns
from core.plans.release_terms import ReleaseTerms
from core.plans.statements import DeskTable
from core.privacy.budget import Budget
from core.queries.kit.focus import asked_columns
from core.registry import mechanism_from, offline
from core.schema.domain import Domain
from core.theory.lower_bounds import least_error
from dashboard.views.common import messages
from dashboard.views.common.state import PageState
from dashboard.views.plan import compare_chart
from dashboard.views.plan.compare_chart import Dot, LeastLine, Line
from dashboard.views.plan.offers import Offer, Offers
from dashboard.views.plan.plan_form import ERRORS, Accuracy, Wanted
from dashboard.views.plan.rehearsals import Outcome, Run
from dashboard.views.plan.trials import first_trials

STEPS = (0.1, 0.3, 1.0, 3.0, 10.0)
"""Epsilons that are drawn, as multiples of the chosen one."""
LARGEST = 1_000.0
LEAST_DRAWN = 0.5
"""Rows below which a lower bound says nothing that a count does not."""
FAR_BELOW = 10.0
"""How many times smaller than every error a lower bound is not drawn any more."""


def show(
    here: PageState,
    desk: Desk,
    table: DeskTable,
    plan: ReleaseTerms,
    priced: Offers,
    wanted: Wanted,
    rows: int,
    rehearsed: Sequence[tuple[Run, Outcome]],
) -> None:
    """The figure, with the error that is wanted, else the one that theorems speak of."""
    key = f"compared-{table.id}"
    kind: ErrorKind = st.segmented_control(
        "Compare by the error of",
        list(ERRORS),
        format_func=ERRORS.__getitem__,
        default=wanted.error if isinstance(wanted, Accuracy) else "worst",
        required=True,
        key=f"{key}-{wanted.error if isinstance(wanted, Accuracy) else ''}",
    )
    lines = first_trials.found(
        here,
        first_trials.COMPARING,
        (table.id, plan.queries, plan.budget, wanted.delta, plan.mechanism, repr(plan.options), rows, kind),
        lambda: _lines(desk, table, plan, priced, rows, kind, wanted.delta),
    )
    if lines is None:
        return
    within = wanted.within if isinstance(wanted, Accuracy) and wanted.error == kind else None
    dots = [dot for run, outcome in rehearsed for dot in _dot(run, outcome, plan, kind)]
    least = _least(table, plan, rows, wanted.delta, lines) if kind == "worst" else None
    figure, alt = compare_chart.compare(lines, dots, plan.mechanism, float(plan.budget.epsilon), within, least)
    st.plotly_chart(figure, alt=alt, key=f"{key}-chart", config={"displaylogo": False})
    hidden = max(0, len(lines) - compare_chart.MOST_LINES)
    others = f" Not drawn: {plural(hidden, 'mechanism')} with larger errors." if hidden else ""
    parts = [
        "Expected errors: simulated on public rows at the chosen ε, by a model elsewhere.",
        "Dotted: what a theorem promises; click a name to show it." if _any_promised(lines) else "",
        "Crosses: rehearsals." if dots else "",
        "Dashed: what no method stays below on every table." if least is not None else "",
    ]
    messages.note(" ".join(filter(None, parts)) + others, "public")


def _lines(
    desk: Desk, table: DeskTable, plan: ReleaseTerms, priced: Offers, rows: int, kind: ErrorKind, delta: object
) -> tuple[Line, ...]:
    return tuple(
        _line(
            desk,
            desk.stand_ins(table, plan.queries, rows=rows),
            table,
            plan,
            offer,
            plan.options if offer.mechanism.name == plan.mechanism else {},
            _epsilons(plan),
            rows,
            kind,
            delta,
        )
        for offer in drawn(priced, plan.mechanism)
    )


def _epsilons(plan: ReleaseTerms) -> tuple[float, ...]:
    center = float(plan.budget.epsilon)
    return tuple(center * step for step in STEPS if center * step <= LARGEST)


def _any_promised(lines: Sequence[Line]) -> bool:
    return any(value is not None for line in lines for value in line.promised)


def _least(table: DeskTable, plan: ReleaseTerms, rows: int, delta: object, lines: Sequence[Line]) -> LeastLine | None:
    """The error that no method avoids on every table of so many rows, where that is proved; in 95 % of the runs.

    A bound far below every line would only press the lines together.
    """
    domain = asked_columns(plan.queries, table.domain)
    found = [
        least_error(plan.queries, domain, table.unit, Budget(epsilon, delta), max(1, rows))
        for epsilon in _epsilons(plan)
    ]
    best = min((error for line in lines for error in line.errors if error is not None), default=0.0)
    if not any(bound.rows >= max(LEAST_DRAWN, best / FAR_BELOW) for bound in found):
        return None
    return LeastLine(
        theorem=next(bound.theorem for bound in found if bound.rows >= LEAST_DRAWN),
        epsilons=_epsilons(plan),
        errors=tuple(bound.rows if bound.rows >= LEAST_DRAWN else None for bound in found),
    )


def drawn(priced: Offers, chosen: str) -> list[Offer]:
    """What is compared: the mechanisms that are offered, and the chosen one; those for study are no competitors."""
    return [*priced.found, *(offer for offer in priced.studied if offer.mechanism.name == chosen)]


def _line(
    desk: Desk,
    public: StandIns,
    table: DeskTable,
    plan: ReleaseTerms,
    offer: Offer,
    options: Mapping[str, Any],
    epsilons: tuple[float, ...],
    rows: int,
    kind: ErrorKind,
    delta: object,
) -> Line:
    domain, name = asked_columns(plan.queries, table.domain), offer.mechanism.name
    about = ""
    known = build(name, plan.queries, Budget(plan.budget.epsilon, delta), options, domain, table.unit)
    error: float | None
    errors: list[float | None] = []
    promised: list[float | None] = []
    for epsilon in epsilons:
        budget = Budget(epsilon, delta)
        mechanism = mechanism_from(name, plan.queries, budget, options)
        try:
            mechanism = build(name, plan.queries, budget, options, domain, table.unit)
            expected = along(known, mechanism, public, desk.told_figures.figures)
            about, error = expected.about, float(getattr(expected, kind))
        except DeskError:
            error = None
        errors.append(error)
        # A theorem bounds every answer at once; of the average it says nothing that is not in that.
        promised.append(_promised(mechanism, domain, table, rows) if kind == "worst" else None)
    return Line(
        name=name,
        title=mechanism.title,
        about=about,
        epsilons=epsilons,
        errors=tuple(errors),
        promised=tuple(promised),
    )


def _promised(mechanism: Mechanism, domain: Domain, table: DeskTable, rows: int) -> float | None:
    """What a theorem promises about the very parameters that would run; None where they cannot run at all."""
    try:
        return mechanism.promise(domain, table.unit, rows) if isinstance(mechanism, Proven) else None
    except DeskError:
        return None


def _dot(run: Run, outcome: Outcome, plan: ReleaseTerms, kind: ErrorKind) -> list[Dot]:
    """The rehearsals of these very questions, whatever the mechanism and the budget."""
    if run.plan.queries != plan.queries or not outcome.errors:
        return []
    per_class = [error.mean if kind == "mean" else error.largest for error in outcome.errors]
    error = sum(per_class) / len(per_class) if kind == "mean" else max(per_class)
    about = f"{offline[run.plan.mechanism].title} on {run.standin}"
    # A logarithmic axis has no zero; half a row is as good as exact.
    return [
        Dot(
            name=run.plan.mechanism,
            epsilon=float(run.plan.budget.epsilon),
            error=max(error * outcome.rows, 0.5),
            about=about,
        )
    ]
