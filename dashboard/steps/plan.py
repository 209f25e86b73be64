"""Plan: what to release, how exactly, at what price; compared and rehearsed before anything is spent."""

import streamlit as st

from dashboard.views.common import next_step, state
from dashboard.views.plan import plan_page
from dashboard.views.release import result_page

here, desk = state.session(), state.desk()
st.title("Plan")

tables = desk.tables()
if not tables:
    next_step.begin()
    st.stop()

# Whoever plans wants to see this plan on the Release page, not the release before it.
here.shown = None
result_page.name_link(here)
plan_page.show(here, desk, state.choose_table(tables))
