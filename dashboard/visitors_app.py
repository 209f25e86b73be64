"""The entry point for visitors only: what is shared, limits, and help. The curator's pages are no part of it.

For a server that strangers reach: beside the curator's own, on the same workspace, whatever stands in front of it.
"""

import os
import sys
from pathlib import Path

import streamlit as st

ROOT = str(Path(__file__).resolve().parents[1])
if ROOT not in sys.path:
    # A hosted one installs the requirements only, not the package.
    sys.path.insert(0, ROOT)

from dashboard import look  # noqa: E402
from dashboard.door import access  # noqa: E402
from dashboard.views.common import messages  # noqa: E402

os.environ[access.ROLE_VARIABLE] = "visitor"
st.set_page_config(page_title="Release Desk", page_icon=Path(__file__).with_name("icon.png"), layout="wide")
look.apply()
page = st.navigation(
    [
        # The first page has no address of its own: with this one before it, a link to /shared is found.
        st.Page("steps/shared.py", title="Shared", url_path="front", default=True, visibility="hidden"),
        st.Page("steps/shared.py", title="Shared", icon=":material/public:"),
        st.Page("steps/limits.py", title="Limits", icon=":material/gpp_maybe:"),
        st.Page("steps/help.py", title="Help", icon=":material/help:"),
    ]
)
messages.legend(messages.SHOWN_TO_VISITORS)
with messages.guarded():
    page.run()
