"""What the theme cannot say.

The primary colour is the background of buttons with white letters, so in the dark it cannot be light enough to be read
as a letter itself: small texts in it take the colour of the text around them.
"""

from __future__ import annotations

import streamlit as st

STYLE = """<style>
[data-testid="stSliderThumbValue"], [data-testid="stButtonGroup"] button[data-selected="true"] {
  color: inherit !important
}
</style>"""


def apply() -> None:
    st.html(STYLE)
