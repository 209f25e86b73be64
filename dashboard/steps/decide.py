"""Decide: a decision instead of a table, from the same budget."""

import streamlit as st

from dashboard.views.common import next_step, state
from dashboard.views.decide import decide_page

here, desk = state.session(), state.desk()
st.title("Decide")
st.write("What to do, instead of counts: where to open sites, where a network splits, which sets cover all.")

tables = desk.tables()
if not tables:
    next_step.begin()
    st.stop()

decide_page.show(here, desk, state.choose_table(tables))
