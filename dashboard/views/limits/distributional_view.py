"""Two definitions of privacy, and the example that keeps one and breaks the other."""

from __future__ import annotations

import math

import streamlit as st

from core.theory.distributional import NoisyTotal, mirrored_mod
from dashboard.views.common import messages
from dashboard.views.common.wording import number, percent
from dashboard.views.limits import bound_charts

EPSILONS, SHARES = (0.1, 0.2, 0.5, 1.0), (0.1, 0.3, 0.5)
ROWS = (25, 50, 100, 200, 400, 800)
POPULATION = 10
"""People to draw from, for each row."""
JUST_BELOW = 0.999


def show() -> None:
    st.write(
        "Differential privacy hides one person. Distributional privacy hides more: which sample of a population was "
        "seen. The mirrored mod of a count goes up and down between 0 and 2/ε, one step for each person: with noise of "
        "1/ε it hides everybody, and still tells samples apart (Blum, Ligett and Roth 2008, theorem 7.3)."
    )
    left, right = st.columns(2)
    epsilon = left.select_slider("Epsilon (ε)", EPSILONS, 0.2, key="limits-samples-epsilon")
    share = right.select_slider("Share of the population with the property", SHARES, 0.5, key="limits-samples-share")
    period = math.floor(2 / epsilon)
    laws = {
        "mirrored mod": lambda rows: NoisyTotal(function=lambda total: mirrored_mod(total, period), scale=1 / epsilon),
        "plain count": lambda rows: NoisyTotal(function=lambda total: total, scale=1 / epsilon),
        "count with noise of 8 √n": lambda rows: NoisyTotal(function=lambda total: total, scale=8 * math.sqrt(rows)),
    }
    missed = {
        name: [
            law(rows).distributional(rows, round(share * POPULATION * rows), POPULATION * rows, JUST_BELOW)
            for rows in ROWS
        ]
        for name, law in laws.items()
    }
    figure, alt = bound_charts.told_apart(ROWS, missed)
    st.plotly_chart(figure, alt=alt, key="limits-samples", config={"displayModeBar": False})
    kept = laws["mirrored mod"](ROWS[-1]).differential(ROWS[-1])
    messages.note(
        f"Exact probabilities. The mirrored mod keeps ε {number(round(kept, 6))} for every person, and outputs of two "
        f"samples of {ROWS[-1]} rows differ by a factor of e or more in {percent(missed['mirrored mod'][-1])} of all "
        "pairs, however many rows there are.",
        "public",
    )
