"""Shared: the public face. Everything on it is released; it is all that a visitor sees."""

from dashboard.door import access
from dashboard.views.common import state
from dashboard.views.shared import publisher_form, shared_page

publisher_form.head(state.desk().publisher.read())
if access.role() == "curator":
    publisher_form.edit(state.desk())
shared_page.show(state.session(), state.desk())
