"""What many releases cost together, by five theorems and at this desk."""

from __future__ import annotations

from fractions import Fraction

import streamlit as st

from core.privacy.budget import Budget
from core.privacy.events import Cost, Event, Gaussian, Laplace, Selection
from core.privacy.spendable import rho_for
from core.theory.composition import account_epsilon, advanced, basic, epsilon_for, gaussian, renyi, zcdp
from dashboard.views.common import messages
from dashboard.views.limits import bound_charts

EPSILONS, DELTAS = (0.01, 0.03, 0.1, 0.3, 1.0), (1e-12, 1e-9, 1e-6)
NUMBERS = (1, 2, 5, 10, 20, 50, 100, 200, 500)
KINDS = ("Counts with Laplace noise", "Choices (exponential mechanism)", "Counts with Gaussian noise")
DESK = "an account of this desk"


def show() -> None:
    st.write(
        "Every release adds to what is known about a person. How fast depends on the kind of noise and on how one adds "
        "up: epsilons add (basic composition), and with a small delta they grow with the root of their number only "
        "(advanced composition: Dwork, Rothblum and Vadhan 2010; Kairouz, Oh and Viswanath 2015). The curves hold for "
        "releases whose budgets are fixed beforehand; an account pays a little more, because each release may "
        "follow from the last."
    )
    left, middle, right = st.columns(3)
    kind = left.selectbox("What is released", KINDS, key="limits-composition-kind")
    epsilon = middle.select_slider("Epsilon (ε) of each", EPSILONS, 0.1, key="limits-composition-epsilon")
    delta = right.select_slider("Delta (δ) of all together", DELTAS, 1e-6, key="limits-composition-delta")
    curves = _curves(kind, epsilon, delta)
    figure, alt = bound_charts.composed(NUMBERS, curves)
    st.plotly_chart(figure, alt=alt, key="limits-composition", config={"displayModeBar": False})
    best = epsilon_for(_cost(kind, epsilon, delta, NUMBERS[-1]), delta)
    messages.note(
        f"{NUMBERS[-1]} of them together are ({best:.3g}, {delta:g})-private by the best of the theorems; an account "
        f"of this desk pays for them from a total of {curves[DESK][-1]:.3g} on.",
        "public",
    )


@st.cache_data(show_spinner="Adding up …", max_entries=100)
def _curves(kind: str, epsilon: float, delta: float) -> dict[str, list[float]]:
    """Total epsilons by way of adding up, for each number of releases; those that do not apply are left out."""
    costs = [_cost(kind, epsilon, delta, number) for number in NUMBERS]
    bounds = {"Gaussian": gaussian, "Rényi": renyi, "zero-concentrated": zcdp}
    pure = {} if kind == KINDS[2] else {"basic": [basic(cost) for cost in costs]}
    if pure:
        bounds["advanced"] = advanced
    found = {name: [bound(cost, delta) for cost in costs] for name, bound in bounds.items()}
    return {**pure, **found, DESK: [account_epsilon(cost, delta) for cost in costs]}


def _cost(kind: str, epsilon: float, delta: float, number: int) -> Cost:
    each = Fraction(str(epsilon))
    event: Event = Laplace(each) if kind == KINDS[0] else Selection(each)
    if kind == KINDS[2]:
        event = Gaussian(rho_for(Budget(epsilon, delta)))
    return Cost.of([event] * number)
