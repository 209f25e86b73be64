"""Decide: a decision instead of a table, from the same budget."""

import streamlit as st

from dashboard.views.common import next_step, state
from dashboard.views.decide import decide_page

here, desk = state.session(), state.desk()
st.title("Decide")

tables = desk.tables()
if not tables:
    next_step.begin()
    st.stop()

decide_page.show(here, desk, state.choose_table(tables))
