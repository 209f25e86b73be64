"""Who can be found in a table without names, and what epsilon does about it."""

from __future__ import annotations

from itertools import combinations

import pandas as pd
import streamlit as st

from core.attacks.linkage import FEW, singled_out
from core.base.odds import most_won, odds
from dashboard.views.common import messages, state
from dashboard.views.common.wording import percent
from dashboard.views.limits import limits_charts

PERSON = "patient_id"
FACTS = ("age", "sex", "region", "insurance", "smoker", "bmi", "systolic_bp", "diabetes", "hypertension")
USUAL = ("age", "sex", "region")
MOST_FACTS = 4
EPSILONS = (0.01, 0.1, 0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0)


def show() -> None:
    """Linkage on the demo table: it is invented, so that its rows may be shown to anybody."""
    st.write(
        "Without names, a few facts that a neighbour knows are enough to find somebody's row, and everything else in "
        "it (thesis, section 2.1). The demo table is invented; its people are counted once each."
    )
    people = _people()
    if people is None:
        st.info("The demo table is not part of this installation.", icon=":material/info:")
        return
    known = st.multiselect(
        "Facts that somebody knows", FACTS, list(USUAL), max_selections=MOST_FACTS, key="limits-facts"
    )
    if not known:
        st.info("Choose at least one fact.", icon=":material/help:")
        return
    sets = [chosen for size in range(1, len(known) + 1) for chosen in combinations(known, size)]
    figure, alt = limits_charts.alone([(" + ".join(chosen), singled_out(people, chosen)) for chosen in sets])
    st.plotly_chart(figure, alt=alt, key="limits-linkage", config={"displayModeBar": False})
    found = singled_out(people, known)
    messages.note(
        f"Of {found.people:,} people {found.alone:,} ({percent(found.share)}) are the only one with these facts, and "
        f"{percent(found.among_few / found.people)} are among fewer than {FEW}.",
        "public",
    )


def show_odds() -> None:
    st.write(
        "A private release changes what anybody can conclude about one person by at most e^ε in odds, whatever they "
        "know already (thesis, section 2.2)."
    )
    left, right = st.columns(2)
    epsilon = left.select_slider("Epsilon (ε)", EPSILONS, 1.0, key="limits-odds")
    before = right.slider("How sure somebody is before, in %", 1, 99, 50, key="limits-before") / 100
    figure, alt = limits_charts.belief(epsilon, before)
    st.plotly_chart(figure, alt=alt, key="limits-belief", config={"displayModeBar": False})
    messages.note(
        f"{odds(epsilon)} That is an advantage of {percent(2 * most_won(epsilon) - 1)} over guessing.", "public"
    )


@st.cache_resource(show_spinner="Reading the demo table …")
def _people() -> pd.DataFrame | None:
    """The first visit of each invented person."""
    file = state.demo_file()
    if file is None or file.suffix != ".csv":
        return None
    return pd.read_csv(file, usecols=[PERSON, *FACTS]).drop_duplicates(PERSON)
