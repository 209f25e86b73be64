"""Ask: one question at a time, answered at once, for as long as the session lasts."""

import streamlit as st

from dashboard.views.ask import ask_history, ask_open, ask_question, machines_form
from dashboard.views.common import next_step, state
from dashboard.views.release import share_form

here, desk = state.session(), state.desk()
st.title("Ask")

tables = desk.tables()
if not tables:
    next_step.begin()
    st.stop()

table = state.choose_table(tables)
session = ask_open.choose(here, desk, table)
if session is not None:
    ask_question.show(here, session)
    ask_history.show(session, "curator")
    share_form.show(desk, session.id, table.name, session)
    machines_form.show(here, desk, session)
