"""Two fields for a privacy budget, and sentences on what they promise."""

from __future__ import annotations

import streamlit as st

from core.base.errors import DeskError
from core.base.odds import budget_warnings, factor_up, odds
from core.privacy.budget import Budget
from dashboard.views.common import messages
from dashboard.views.common.wording import number

PURE = "the noise that is drawn needs none, and the promise is stronger without it"
COMPARED = "noise that uses a δ would not err clearly less"


def budget(key: str, *, epsilon: str, delta: str, about: str) -> Budget | None:
    """The budget that was typed, exactly, or None with one sentence on what is wrong."""
    left, right = st.columns(2)
    with left:
        typed = _typed(
            "Epsilon (ε)",
            f"{key}-epsilon",
            epsilon,
            "Smaller is more private and less exact. 1 is common for statistics about people; 10 promises little.",
        )
    with right:
        failure = failing(key, delta)
    try:
        chosen = Budget(typed.strip(), failure.strip() or "0")
    except DeskError as problem:
        st.error(messages.sentence(problem), icon=":material/error:")
        return None
    explained(chosen, about)
    return chosen


def failing(key: str, delta: str) -> str:
    """The field for delta alone."""
    return _typed(
        "Delta (δ)",
        f"{key}-delta",
        delta,
        "Probability with which the promise may fail; well below one in the number of people. 0 is the strictest.",
    )


def explained(chosen: Budget, about: str) -> None:
    messages.note(f"{promise(chosen, about)} {odds(float(chosen.epsilon), float(chosen.delta), about)}", "public")
    warn(chosen)


def pure_noise(drawn: Budget, allowed: Budget, *, chosen: bool) -> None:
    """Say why a budget shows no delta where one was allowed; `chosen` where the desk compared both kinds of noise."""
    if drawn.pure and not allowed.pure:
        compared = f"; {COMPARED}" if chosen else ""
        messages.note(f"δ is 0 here: {PURE}{compared}.", "public")


def warn(chosen: Budget) -> None:
    """Say it where little is promised, or nothing can be seen for the noise."""
    for problem in budget_warnings(float(chosen.epsilon), float(chosen.delta)):
        st.warning(problem, icon=":material/warning:")


def promise(chosen: Budget, about: str) -> str:
    """Epsilon in odds.

    >>> promise(Budget(1), "this release")
    'One person more or less changes the odds of anything seen in this release by a factor of 2.72 (e^ε) at most.'
    """
    times = factor_up(float(chosen.epsilon))
    failure = "" if chosen.pure else f", except with probability {number(chosen.delta)} (δ)"
    return (
        f"One person more or less changes the odds of anything seen in {about} by a factor of {times} (e^ε) at most"
        f"{failure}."
    )


def _typed(label: str, key: str, first: str, about: str) -> str:
    return st.text_input(label, first, key=key, persist_state="session", help=about)
