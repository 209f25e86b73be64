"""Release: see everything that was chosen, press once, and find the result again whatever happens to the browser."""

import streamlit as st

from dashboard.views.common import next_step, state
from dashboard.views.release import release_page, result_page

here, desk = state.session(), state.desk()
st.title("Release")

tables = desk.tables()
if not tables:
    next_step.begin()
    st.stop()

result_page.follow_link(here, desk)
table = state.choose_table(tables)
result_page.name_link(here)
if here.shown is None:
    release_page.show(here, desk, table)
else:
    result_page.show(here, desk, table)
