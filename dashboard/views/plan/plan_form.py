"""How much to spend: by a budget, or by the accuracy that is needed; and how many records and copies to draw."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import streamlit as st

from core.base.errors import DeskError
from core.base.odds import HARM
from core.planning.budget_for import ErrorKind
from core.planning.simulation.stand_ins import FIRST_GUESS
from core.plans.release_terms import MOST_COPIES
from core.plans.statements import DeskTable
from core.privacy.budget import Budget, exact
from dashboard.views.common import budget_form, messages
from dashboard.views.common.wording import at_most, number

MOST_ROWS = 20_000_000
MOST_GUESS = 10_000_000
BY_BUDGET, BY_ACCURACY = "By budget", "By accuracy"
ERRORS: dict[ErrorKind, str] = {"worst": "every count, 95 % of the time", "mean": "a count on average"}
FIRST_WITHIN = 50
ABOUT = "this release"


@dataclass(frozen=True, kw_only=True)
class Accuracy:
    """Errors to be reached, whatever the budget."""

    within: float
    """Rows."""
    error: ErrorKind
    delta: float


Wanted = Budget | Accuracy
"""What a mechanism is chosen for: a budget, or errors that its budget must reach."""


def sizes(table: DeskTable, known: int | None) -> tuple[int, int | None, int]:
    """Rows that the table is said to have, at first what is public; records to draw, if any number; and copies."""
    first, second, third = st.columns(3, vertical_alignment="bottom")
    with first:
        guessed = _guess(table, known or FIRST_GUESS)
    with second:
        chosen = st.number_input(
            "Synthetic rows",
            min_value=1,
            max_value=MOST_ROWS,
            value=None,
            step=1000,
            placeholder="as the release estimates",
            key="rows",
            persist_state="session",
            help="Empty: about as many as the table has. The number itself costs nothing.",
        )
    with third:
        copies = st.number_input(
            "Synthetic copies",
            min_value=0,
            max_value=MOST_COPIES,
            value=0,
            step=5,
            key="copies",
            persist_state="session",
            help="So many more sets of records, each made from the release with other noise. They cost no budget and "
            "show how far any estimate can be off: the ZIP has a script that makes intervals from them. "
            "Ten are enough; each takes as long as the release.",
        )
    return guessed, None if chosen is None else int(chosen), int(copies)


def _guess(table: DeskTable, first: int) -> int:
    """Figures before spending are for a table of so many rows; the private one is not counted for them."""
    chosen = st.number_input(
        "Rows of the table, as publicly known or guessed",
        min_value=1,
        max_value=max(MOST_GUESS, first),
        value=first,
        step=1000,
        key=f"guess-{table.id}",
        persist_state="session",
        help="A round number that anyone could guess. Errors, times and theorems here are for a table of so many "
        "rows; the release itself does not need it.",
    )
    return int(chosen)


def wanted(table: DeskTable, left_epsilon: float) -> Wanted | None:
    """What is wanted, or None with one sentence on what is wrong."""
    key = keys(table)
    way = st.segmented_control(
        "Choose",
        [BY_BUDGET, BY_ACCURACY],
        default=BY_BUDGET,
        required=True,
        key=f"{key}-way",
        persist_state="session",
        help="By budget: the error follows. By accuracy: the smallest ε that reaches it follows.",
    )
    if way == BY_ACCURACY:
        return _accuracy(table)
    st.pills(
        "Start from the harm that knowing a person's row would do",
        list(HARM),
        key=f"{key}-harm",
        on_change=_preset,
        args=(key, table.budget.pure),
        help="It fills in ε and δ; you may change them.",
    )
    return budget_form.budget(
        key,
        epsilon="1" if left_epsilon >= 1 or left_epsilon <= 0 else at_most(left_epsilon),
        delta=number(table.budget.delta),
        about=ABOUT,
    )


def keys(table: DeskTable) -> str:
    """What the keys of the fields for a budget start with."""
    return f"release-{table.id}"


def fill(table: DeskTable, budget: Budget, records: int | None, copies: int = 0) -> None:
    """Type a budget and numbers of rows and copies into the form; only before it is drawn."""
    key = keys(table)
    fields: Any = st.session_state
    fields[f"{key}-way"] = BY_BUDGET
    fields[f"{key}-harm"] = None
    fields[f"{key}-epsilon"], fields[f"{key}-delta"] = _short(budget.epsilon), _short(budget.delta)
    fields["rows"], fields["copies"] = records, copies


def _accuracy(table: DeskTable) -> Accuracy | None:
    key = keys(table)
    first, second, third = st.columns(3, vertical_alignment="bottom")
    with first:
        within = st.number_input(
            "Error of at most so many rows",
            min_value=0.1,
            value=float(FIRST_WITHIN),
            step=10.0,
            format="%g",
            key=f"{key}-within",
            persist_state="session",
            help="The difference between a released and the true count.",
        )
    with second:
        error = st.selectbox(
            "For", list(ERRORS), format_func=ERRORS.__getitem__, key=f"{key}-error", persist_state="session"
        )
    with third:
        failure = budget_form.failing(key, number(table.budget.delta))
    try:
        delta = Budget(1, failure.strip() or "0").delta
    except DeskError as problem:
        st.error(messages.sentence(problem), icon=":material/error:")
        return None
    return Accuracy(within=float(within), error=error, delta=float(delta))


def _preset(key: str, pure: bool) -> None:
    """Fill in the fields; an account without delta can pay for nothing that needs one."""
    chosen = st.session_state[f"{key}-harm"]
    if chosen is not None:
        epsilon, delta = HARM[chosen]
        st.session_state[f"{key}-epsilon"] = number(epsilon)
        st.session_state[f"{key}-delta"] = "0" if pure else number(delta)


def _short(part: Fraction) -> str:
    """A fraction as a person would type it, where that is exact."""
    typed = number(part)
    return typed if exact(typed, "budget") == part else str(part)
