"""The sections of the page Limits. Each is computed when it is unfolded: all of them together take seconds."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dashboard.views.common import messages
from dashboard.views.limits import (
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

SECTIONS: dict[str, Callable[[], None]] = {
    "Too many exact answers give everybody away": reconstruction_view.show,
    "Names are not what gives people away": linkage_view.show,
    "What epsilon means": linkage_view.show_odds,
    "What many releases cost together": composition_view.show,
    "How many rows a class of questions needs": dimension_view.show,
    "What is learnable is releasable": learning_view.show,
    "A class that is too rich gives its rows back": hidden_set_view.show,
    "The finer the column, the larger the error": finer_bits_view.show,
    "Some parity is always wrong": parity_view.show,
    "Hiding a person is not hiding a sample": distributional_view.show,
}
"""Title and view; the first is open when the page is."""
SHOW = "Show and try it"


def show() -> None:
    for title in SECTIONS:
        _section(title)


def key(title: str) -> str:
    """Where it is kept whether a section is open."""
    return f"limits-open-{title}"


@st.fragment
def _section(title: str) -> None:
    """A part of the page that runs by itself: moving its sliders leaves the others alone."""
    with messages.guarded():
        st.header(title, divider="gray")
        part = st.expander(SHOW, expanded=title == next(iter(SECTIONS)), key=key(title), on_change="rerun")
        if part.open:
            with part:
                SECTIONS[title]()
