"""Shared: the public face. Everything on it is released; it is all that a visitor sees."""

import streamlit as st

from dashboard.views.common import state
from dashboard.views.shared import shared_page

st.title("Shared")
shared_page.show(state.session(), state.desk())
