"""The dashboard's entry point: it lists the pages and nothing else.

The pages live in `steps/`: with a folder called `pages` beside this file, Streamlit would run the page that is visited
first without running this file, and so without asking who visits.
"""

import sys
from pathlib import Path

import streamlit as st

ROOT = str(Path(__file__).resolve().parents[1])
if ROOT not in sys.path:
    # A hosted demo installs the requirements only, not the package.
    sys.path.insert(0, ROOT)

from dashboard import loaded, look  # noqa: E402
from dashboard.door import access  # noqa: E402
from dashboard.views.common import messages  # noqa: E402
from dashboard.views.tour import tour  # noqa: E402

# A picture of our own: a named icon would be fetched from a font server at every visit.
st.set_page_config(page_title="Release Desk", page_icon=Path(__file__).with_name("icon.png"), layout="wide")
loaded.put_aside()
look.apply()
SHARED = st.Page("steps/shared.py", title="Shared", icon=":material/public:")
# The first page of a list has no address of its own: with this one before it, a link to /shared is found by everybody.
FRONT = st.Page("steps/shared.py", title="Shared", url_path="front", default=True, visibility="hidden")
LIMITS = st.Page("steps/limits.py", title="Limits", icon=":material/gpp_maybe:")
HELP = st.Page("steps/help.py", title="Help", icon=":material/help:")
CURATOR = [
    st.Page("steps/data.py", title="Data", icon=":material/table:", default=True),
    st.Page("steps/plan.py", title="Plan", icon=":material/edit_note:"),
    st.Page("steps/release.py", title="Release", icon=":material/publish:"),
    st.Page("steps/ask.py", title="Ask", icon=":material/forum:"),
    st.Page("steps/decide.py", title="Decide", icon=":material/gavel:"),
    st.Page("steps/collect.py", title="Collect", icon=":material/how_to_vote:"),
    st.Page("steps/accuracy.py", title="Accuracy", icon=":material/lock:"),
    st.Page("steps/budget.py", title="Budget", icon=":material/savings:"),
    LIMITS,
    SHARED,
    HELP,
]

# A page that is not listed does not exist for the visitor, whatever address is typed.
who = access.role()
page = st.navigation(CURATOR if who == "curator" else [FRONT, SHARED, LIMITS, HELP])
access.explain(who)
access.open_uploads(who)
messages.legend(messages.STATUSES if who == "curator" else messages.SHOWN_TO_VISITORS)
with messages.guarded():
    if who == "curator":
        tour.show(page.title)
    page.run()
