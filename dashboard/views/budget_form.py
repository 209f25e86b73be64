"""Two fields for a privacy budget, and a sentence on what they promise."""

from __future__ import annotations

import math

import streamlit as st

from core.errors import DeskError
from core.privacy import Budget
from dashboard.views import messages
from dashboard.views.wording import number


def budget(key: str, *, epsilon: str, delta: str, about: str) -> Budget | None:
    """The budget that was typed, exactly, or None with one sentence on what is wrong."""
    left, right = st.columns(2)
    typed = left.text_input(
        "Epsilon (ε)",
        epsilon,
        key=f"{key}-epsilon",
        persist_state="session",
        help="Smaller is more private and less exact. 1 is common for statistics about people; 10 promises little.",
    )
    failure = right.text_input(
        "Delta (δ)",
        delta,
        key=f"{key}-delta",
        persist_state="session",
        help="Probability with which the promise may fail; well below one in the number of people. 0 is the strictest.",
    )
    try:
        chosen = Budget(typed.strip(), failure.strip() or "0")
    except DeskError as problem:
        st.error(messages.sentence(problem), icon=":material/error:")
        return None
    messages.note(promise(chosen, about), "public")
    return chosen


def promise(chosen: Budget, about: str) -> str:
    """Epsilon in odds.

    >>> promise(Budget(1), "this release")
    'One person more or less changes the odds of anything seen in this release by a factor of 2.72 (e^ε) at most.'
    """
    factor = math.exp(min(float(chosen.epsilon), 700))
    times = f"{factor:.3g}" if factor < 1000 else f"{factor:,.0f}" if factor < 1e6 else f"{factor:.0e}"
    failure = "" if chosen.pure else f", except with probability {number(chosen.delta)} (δ)"
    return (
        f"One person more or less changes the odds of anything seen in {about} by a factor of {times} (e^ε) at most"
        f"{failure}."
    )
