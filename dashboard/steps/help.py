"""Help: how it works, what the words mean, what can be asked, how it is done, and how this desk is run."""

import streamlit as st

from dashboard.door import access
from dashboard.views.common import state
from dashboard.views.help import help_page

st.title("Help")
help_page.how()
help_page.words()
help_page.registered()
if access.role() == "curator":
    help_page.settings(state.desk())
