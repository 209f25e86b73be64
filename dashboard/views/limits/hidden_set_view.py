"""How much of a secret set comes back from answers that are too good."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.attacks.hidden_set import by_budget, hidden_set
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.theory.lower_bounds import reconstruction
from dashboard.views.common import messages
from dashboard.views.common.wording import percent
from dashboard.views.limits import bound_charts

RECORDS, GAMMAS, EPSILONS = (20, 60, 200), (0.1, 0.25, 0.5), (0.1, 0.5, 1.0, 3.0)
STEPS = (30.0, 10.0, 6.0, 4.0, 3.0, 2.0, 1.0, 0.5, 0.2)
"""Epsilons of the noise with which the records are counted, from nearly exact to very private."""
RUNS = 10


def show() -> None:
    st.write(
        "Some records are shattered: every way to split them is a question. Half of them are secretly in the table. "
        "Answers to all questions with a small error give the secret half back, so no private release of such a class "
        "has a small error (Roth 2010, lemma 2 and theorem 2)."
    )
    left, middle, right = st.columns(3)
    records = left.select_slider("Shattered records (d)", RECORDS, 60, key="limits-hidden-records")
    gamma = middle.select_slider("Margin (γ)", GAMMAS, 0.25, key="limits-hidden-gamma")
    epsilon = right.select_slider("Epsilon (ε) of this desk's noise", EPSILONS, 1.0, key="limits-hidden-epsilon")
    errors, shares, promised = _rebuilt(records, gamma)
    desk = _protected(records, gamma, epsilon)
    figure, alt = bound_charts.rebuilt(errors, shares, promised, desk)
    st.plotly_chart(figure, alt=alt, key="limits-hidden", config={"displayModeBar": False})
    least = reconstruction(records, Budget(epsilon, 0), Unit.row("replace"), records)
    proven = (
        f"nobody who keeps ε {epsilon:g} and is right in 95 % of the runs has an error below {least:.2f} rows at γ 1/2"
        if least > 0
        else "at this ε the theorem says nothing"
    )
    messages.note(
        f"Means of {RUNS} runs. With this desk's noise at ε {epsilon:g} the error is {desk[0]:.1f} rows and "
        f"{percent(desk[1])} of the set come back, half of it by guessing; {proven}.",
        "public",
    )


@st.cache_resource(show_spinner="Attacking invented people …", max_entries=100)
def _rebuilt(records: int, gamma: float) -> tuple[list[float], list[float], list[float]]:
    errors, shares, promised = [], [], []
    for step in STEPS:
        runs = [(hidden := hidden_set(records, gamma), by_budget(hidden, Budget(step, 0))) for _ in range(RUNS)]
        errors.append(float(np.mean([hidden.error(told) for hidden, told in runs])))
        shares.append(float(np.mean([hidden.share(told) for hidden, told in runs])))
        promised.append(float(np.mean([hidden.promised(hidden.error(told)) for hidden, told in runs])))
    return errors, shares, promised


@st.cache_resource(show_spinner="Attacking invented people …", max_entries=100)
def _protected(records: int, gamma: float, epsilon: float) -> tuple[float, float]:
    runs = [(hidden := hidden_set(records, gamma), by_budget(hidden, Budget(epsilon, 0))) for _ in range(RUNS)]
    return (
        float(np.mean([hidden.error(told) for hidden, told in runs])),
        float(np.mean([hidden.share(told) for hidden, told in runs])),
    )
