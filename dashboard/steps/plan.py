"""Plan: what to release, how exactly, at what price; compared and rehearsed before anything is spent."""

import streamlit as st

from dashboard.views import nothing_yet, plan_page, result_page, state

here, desk = state.session(), state.desk()
st.title("Plan")

held = desk.tables()
if not held:
    nothing_yet.show()
    st.stop()

# Whoever plans wants to see this plan on the Release page, not the release before it.
here.shown = None
result_page.name_link(here)
plan_page.show(here, desk, state.choose_table(held))
