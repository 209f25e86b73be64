"""The way on to the next step: a link, so that nothing runs twice, which looks like the main button that it is."""

from __future__ import annotations

import streamlit as st

KEY = "next-step"
"""The look of its links is in `dashboard/look.py`."""


def link(page: str, label: str) -> None:
    with st.container(key=KEY):
        st.page_link(page, label=label, icon=":material/arrow_forward:")


def begin() -> None:
    """What a page shows before there is a table."""
    st.info("There is no table yet. Start with the demo table: it takes a minute.", icon=":material/table:")
    link("steps/data.py", "Go to Data")
