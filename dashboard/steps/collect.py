"""Collect: people randomise their own answers; design the questionnaire, hand it out, estimate from what comes back."""

import streamlit as st

from dashboard.views.collect import barrier_view, design_form, estimate_view, kit_view
from dashboard.views.common import state

st.title("Collect")
st.write(
    "When nobody should hold the answers, not even you: each person's device changes the answer by chance before it is "
    "sent, and shares, ranges and means are estimated from many such reports."
)

st.header("1 · Design", divider="gray")
plan = design_form.design(state.desk())

st.header("2 · Kit", divider="gray")
kit_view.show(plan)

st.header("3 · Estimate", divider="gray")
estimate_view.show(plan)

barrier_view.show()
