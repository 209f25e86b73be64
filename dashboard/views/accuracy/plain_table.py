"""A table that is only text: a grid would offer its figures as a file."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dashboard.views.common import messages


def show(lines: Sequence[dict[str, str]], alt: str) -> None:
    cells = [{name: messages.plain(text) for name, text in line.items()} for line in lines]
    st.table(pd.DataFrame(cells), hide_index=True, alt=alt)
