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

from dashboard.door import access  # noqa: E402
from dashboard.views.common import messages  # noqa: E402

os.environ[access.ROLE_VARIABLE] = "visitor"
st.set_page_config(page_title="Release Desk", page_icon=Path(__file__).with_name("icon.png"), layout="wide")
page = st.navigation(
    [
        st.Page("steps/shared.py", title="Shared", icon=":material/public:", default=True),
        st.Page("steps/limits.py", title="Limits", icon=":material/gpp_maybe:"),
        st.Page("steps/help.py", title="Help", icon=":material/help:"),
    ]
)
messages.legend(messages.SHOWN_TO_VISITORS)
with messages.guarded():
    page.run()
