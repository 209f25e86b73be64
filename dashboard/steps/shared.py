"""Shared: the public face. Everything on it is released; it is all that a visitor sees."""

import streamlit as st

from dashboard.door import access
from dashboard.views.common import messages, state
from dashboard.views.shared import publisher_form, shared_page

st.title(messages.plain(state.desk().publisher.read().title) or publisher_form.TITLE)
if access.role() == "curator":
    publisher_form.edit(state.desk())
shared_page.show(state.session(), state.desk())
