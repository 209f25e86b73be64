"""Limits: what the theorems say cannot be had, on invented people and the demo table. Everybody may open it."""

import streamlit as st

from dashboard.views.limits import attack_view, sections

st.title("Limits")
st.write(
    "Why noise is needed, how much, and what no method can do. What follows runs on invented people or on the "
    "invented demo table; no private table is opened for it."
)
sections.show()
attack_view.show()
