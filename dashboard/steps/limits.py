"""Limits: what the theorems say cannot be had, on invented people and the demo table. Everybody may open it."""

from collections.abc import Callable

import streamlit as st

from dashboard.views.common import messages
from dashboard.views.limits import (
    attack_view,
    composition_view,
    dimension_view,
    distributional_view,
    finer_bits_view,
    hidden_set_view,
    learning_view,
    linkage_view,
    parity_view,
    reconstruction_view,
)


@st.fragment
def section(title: str, *views: Callable[[], None]) -> None:
    """A part of the page that runs by itself: moving its sliders leaves the others alone."""
    with messages.guarded():
        st.header(title, divider="gray")
        for view in views:
            view()


st.title("Limits")
st.write(
    "Why noise is needed, how much, and what no method can do. What follows runs on invented people or on the "
    "invented demo table; no private table is opened for it."
)
section("Too many exact answers give everybody away", reconstruction_view.show)
section("Names are not what gives people away", linkage_view.show)
section("What epsilon means", linkage_view.show_odds)
section("What many releases cost together", composition_view.show)
section("How many rows a class of questions needs", dimension_view.show)
section("What is learnable is releasable", learning_view.show)
section("A class that is too rich gives its rows back", hidden_set_view.show)
section("The finer the column, the larger the error", finer_bits_view.show)
section("Some parity is always wrong", parity_view.show)
section("Hiding a person is not hiding a sample", distributional_view.show)

attack_view.show()
