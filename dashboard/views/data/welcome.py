"""What a curator meets first, before the desk holds a table: what this is, and three ways in."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import streamlit as st

from dashboard.views.data import sources_form
from dashboard.views.tour import tour

PICTURE = Path(__file__).with_name("welcome.svg")
WHAT = (
    "Release Desk publishes what a sensitive table says about the population, and next to nothing about any one person "
    "in it. You describe the table, set a privacy budget and press once; out come synthetic records and tables of "
    "counts with a certificate that anybody may read."
)
ALT = "A private table becomes counts with noise, paid from a budget, and these become synthetic records for everybody."


def show(demo: bool) -> None:
    """The demo is offered where this is a checkout that has it."""
    with st.container(border=True):
        st.write(WHAT)
        st.image(PICTURE.read_text(encoding="utf-8"), width="stretch", alt=ALT)
        with st.container(horizontal=True, vertical_alignment="center"):
            if demo:
                _way("Try the demo table", sources_form.DEMO_TABLE, ":material/play_arrow:", "primary")
                tour.offer()
            _way("Bring your own file", sources_form.UPLOAD, ":material/upload_file:")
            st.page_link("steps/help.py", label="Read about it", icon=":material/help:")


def _way(label: str, kind: str, icon: str, emphasis: Literal["primary", "secondary"] = "secondary") -> None:
    st.button(label, icon=icon, key=f"welcome-{kind}", type=emphasis, on_click=_choose, args=(kind,))


def _choose(kind: str) -> None:
    st.session_state["source"] = kind
