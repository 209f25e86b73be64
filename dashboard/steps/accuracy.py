"""Accuracy: the real table against its releases, for the curator's eyes only."""

import streamlit as st

from dashboard.views.accuracy import accuracy_page
from dashboard.views.common import next_step, state

here, desk = state.session(), state.desk()
st.title("Accuracy")

tables = desk.tables()
if not tables:
    next_step.begin()
    st.stop()

accuracy_page.show(desk, state.choose_table(tables))
