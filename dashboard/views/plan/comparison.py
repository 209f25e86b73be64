"""The mechanisms that fit, side by side: expected error against epsilon, theorems and rehearsals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from core.base.errors import DeskError
from core.base.wording import plural
from core.mechanisms.kit.protocol import Mechanism
from core.mechanisms.kit.proven import Proven
from core.planning.better_noise import build
from core.planning.budget_for import Measure
from core.plans.release_terms import ReleaseTerms
from core.plans.statements import DeskTable
from core.privacy.budget import Budget
from core.queries.kit.focus import asked_columns
from core.registry import mechanism_from, offline
from core.schema.domain import Domain
from dashboard.views.common import messages
from dashboard.views.common.state import PageState
from dashboard.views.plan import compare_chart
from dashboard.views.plan.compare_chart import Dot, Line
from dashboard.views.plan.offers import Offers, remembered
from dashboard.views.plan.plan_form import MEASURES, Accuracy, Wanted
from dashboard.views.plan.rehearsals import Outcome, Run

STEPS = (0.1, 0.3, 1.0, 3.0, 10.0)
"""Epsilons that are drawn, as multiples of the chosen one."""
LARGEST = 1_000.0


def show(
    here: PageState,
    table: DeskTable,
    plan: ReleaseTerms,
    priced: Offers,
    wanted: Wanted,
    rows: int,
    rehearsed: Sequence[tuple[Run, Outcome]],
) -> None:
    """The figure, with the error that is wanted, else the one that theorems speak of."""
    key = f"compared-{table.id}"
    measure: Measure = st.segmented_control(
        "Compare by the error of",
        list(MEASURES),
        format_func=MEASURES.__getitem__,
        default=wanted.measure if isinstance(wanted, Accuracy) else "worst",
        required=True,
        key=f"{key}-{wanted.measure if isinstance(wanted, Accuracy) else ''}",
    )
    with st.spinner("Comparing the mechanisms …"):
        lines = remembered(
            here.curves,
            (table.id, plan.queries, plan.budget, wanted.delta, plan.mechanism, repr(plan.options), rows, measure),
            lambda: _lines(table, plan, priced, rows, measure, wanted.delta),
        )
    within = wanted.within if isinstance(wanted, Accuracy) and wanted.measure == measure else None
    dots = [dot for run, outcome in rehearsed for dot in _dot(run, outcome, plan, measure)]
    figure, alt = compare_chart.compare(lines, dots, plan.mechanism, float(plan.budget.epsilon), within)
    st.plotly_chart(figure, alt=alt, key=f"{key}-chart", config={"displaylogo": False})
    hidden = max(0, len(lines) - compare_chart.MOST_LINES)
    others = f" Not drawn: {plural(hidden, 'mechanism')} with larger errors." if hidden else ""
    messages.note(
        "Lines are expected errors of what each mechanism measures: point at one to read what that is. Dotted lines "
        "are what a theorem promises for a table of so many rows; click a name to show it. Crosses are rehearsals, "
        "which compare all questions alike. Nothing here is computed from the private rows." + others,
        "public",
    )


def _lines(
    table: DeskTable, plan: ReleaseTerms, priced: Offers, rows: int, measure: Measure, delta: object
) -> tuple[Line, ...]:
    center = float(plan.budget.epsilon)
    epsilons = tuple(center * step for step in STEPS if center * step <= LARGEST)
    return tuple(
        _line(
            table,
            plan,
            offer.mechanism.name,
            plan.options if offer.mechanism.name == plan.mechanism else {},
            epsilons,
            rows,
            measure,
            delta,
        )
        for offer in priced.found
    )


def _line(
    table: DeskTable,
    plan: ReleaseTerms,
    name: str,
    options: Mapping[str, Any],
    epsilons: tuple[float, ...],
    rows: int,
    measure: Measure,
    delta: object,
) -> Line:
    domain = asked_columns(plan.queries, table.domain)
    about = ""
    error: float | None
    errors: list[float | None] = []
    promised: list[float | None] = []
    for epsilon in epsilons:
        budget = Budget(epsilon, delta)
        mechanism = mechanism_from(name, plan.queries, budget, options)
        try:
            mechanism = build(name, plan.queries, budget, options, domain, table.unit)
            expected = mechanism.expected(domain, table.unit)
            about, error = expected.about, float(getattr(expected, measure))
        except DeskError:
            error = None
        errors.append(error)
        # A theorem bounds every answer at once; of the average it says nothing that is not in that.
        promised.append(_promised(mechanism, domain, table, rows) if measure == "worst" else None)
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


def _dot(run: Run, outcome: Outcome, plan: ReleaseTerms, measure: Measure) -> list[Dot]:
    """The rehearsals of these very questions, whatever the mechanism and the budget."""
    if run.plan.queries != plan.queries or not outcome.errors:
        return []
    per_class = [error.mean if measure == "mean" else error.largest for error in outcome.errors]
    error = sum(per_class) / len(per_class) if measure == "mean" else max(per_class)
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
