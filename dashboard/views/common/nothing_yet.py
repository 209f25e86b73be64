"""What a page shows before there is a table."""

from __future__ import annotations

import streamlit as st


def show() -> None:
    st.info("There is no table yet. Start with the demo table: it takes a minute.", icon=":material/table:")
    st.page_link("steps/data.py", label="Go to Data", icon=":material/arrow_forward:")
