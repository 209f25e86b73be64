"""How much of the budget measures the finished release against the table: one slider, off at its left end."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import streamlit as st

from core.mechanisms.measured.usual_measure import USUAL, usual_measure
from core.planning.budget_for import rounded_up
from core.plans.statements import DeskTable
from core.privacy.budget import Budget
from core.queries.kit.protocol import QueryClass
from dashboard.views.plan.plan_form import Wanted

CHOICES = tuple(Fraction(percent, 100) for percent in range(6))
GUESSED_ROWS = 10_000
"""Rows of a table of which nothing public is known: enough for the usual part to tell something at epsilon 1."""


def share(table: DeskTable, asked: Sequence[QueryClass], wanted: Wanted) -> Fraction:
    """The part that was chosen; at first the usual one where public facts say that it tells something."""
    key = _key(table)
    fields: Any = st.session_state
    if key not in fields:
        fields[key] = _usual(table, asked, wanted)
    choices = sorted({*CHOICES, fields[key]})
    chosen: Fraction = st.select_slider(
        "Measure the finished release with",
        choices,
        format_func=_words,
        key=key,
        persist_state="session",
        help="This part of the budget compares the release with your table and publishes, with noise, how large its "
        "errors are: 'all counts of 91 tables within 0.7 % (95 %)'. The rest makes the release.",
    )
    return chosen


def raised(budget: Budget, part: Fraction, wanted: Wanted) -> Budget:
    """A budget that reaches a wanted accuracy also with what is left of it after measuring."""
    if isinstance(wanted, Budget) or not part:
        return budget
    return Budget(rounded_up(float(budget.epsilon / (1 - part))), budget.delta)


def fill(table: DeskTable, part: Fraction) -> None:
    """Put a loaded plan's choice into the form; only before it is drawn."""
    fields: Any = st.session_state
    fields[_key(table)] = part


def _usual(table: DeskTable, asked: Sequence[QueryClass], wanted: Wanted) -> Fraction:
    if not isinstance(wanted, Budget):
        return USUAL
    # Not by what was released before: the same choice must stay the same plan, which is paid for once.
    rows = table.notes["rows"] if table.unit.public_rows else GUESSED_ROWS
    return usual_measure(asked, wanted, table.domain, table.unit, rows)


def _words(part: Fraction) -> str:
    return f"{float(100 * part):g} % of the budget" if part else "nothing"


def _key(table: DeskTable) -> str:
    return f"measure-{table.id}"
