"""How much of a secret column comes back from noisy counts, by the size of the noise."""

from __future__ import annotations

import math

import numpy as np
import streamlit as st

from core.attacks.reconstruction import Recovered, by_budget, invented_column, noise_size, within
from core.base.odds import most_won, percent_up
from core.privacy.budget import Budget
from dashboard.views.common import messages
from dashboard.views.common.wording import percent
from dashboard.views.limits import limits_charts

PEOPLE, SETS_PER_PERSON, EPSILONS = (40, 70, 100), (2, 4, 8), (0.1, 0.5, 1.0, 3.0, 10.0)
ROOTS = (0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
"""Sizes of the noise, in square roots of the number of people."""
DELTA = "1e-9"
RUNS = 3


def show() -> None:
    st.write(
        "Everybody has one secret bit. For random sets of people somebody publishes how many have it, each count a "
        "little wrong. Whoever knows the sets looks for the bits that explain the counts, and finds nearly all of "
        "them while the noise is well below the square root of the number of people (Dinur and Nissim 2003, theorem 5)."
    )
    left, middle, right = st.columns(3)
    people = left.select_slider("People", PEOPLE, 70, key="limits-people")
    each = middle.select_slider("Counts published, per person", SETS_PER_PERSON, 8, key="limits-sets")
    epsilon = right.select_slider("Epsilon (ε) of this desk's noise", EPSILONS, 1.0, key="limits-epsilon")
    sets = people * each
    loose = [_attacked(people, sets, math.floor(root * math.sqrt(people))) for root in ROOTS]
    desk = _protected(people, sets, epsilon)
    budget = Budget(epsilon, DELTA)
    at = noise_size(sets, budget) / math.sqrt(people)
    most = most_won(epsilon, float(budget.delta))
    figure, alt = limits_charts.recovered(ROOTS, loose, at, desk, most)
    st.plotly_chart(figure, alt=alt, key="limits-reconstruction", config={"displayModeBar": False})
    messages.note(
        f"Means of {RUNS} runs on {people} invented people and {sets:,} counts. With this desk's noise at ε "
        f"{epsilon:g} (δ {DELTA}) for all counts together, the attackers find {percent(desk.linear_program)} and "
        f"{percent(desk.least_squares)}; guessing finds 50 %, and no attacker expects more than {percent_up(most)} %.",
        "public",
    )


@st.cache_resource(show_spinner="Attacking invented people …", max_entries=500)
def _attacked(people: int, sets: int, most: int) -> Recovered:
    """The same for every visitor: nobody's data is in it, and nobody makes the server work twice."""
    return _mean(
        [(column := invented_column(people, sets)).recovered(within(column.counts, most)) for _ in range(RUNS)]
    )


@st.cache_resource(show_spinner="Attacking invented people …", max_entries=500)
def _protected(people: int, sets: int, epsilon: float) -> Recovered:
    budget = Budget(epsilon, DELTA)
    runs = [(column := invented_column(people, sets)).recovered(by_budget(column.counts, budget)) for _ in range(RUNS)]
    return _mean(runs)


def _mean(runs: list[Recovered]) -> Recovered:
    return Recovered(
        linear_program=float(np.mean([one.linear_program for one in runs])),
        least_squares=float(np.mean([one.least_squares for one in runs])),
    )
