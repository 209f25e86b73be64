"""What the theme cannot say.

The primary colour is the background of buttons with white letters, so in the dark it cannot be light enough to be read
as a letter itself: small texts in it take the colour of the text around them.

The colours of values in a certificate are too pale to be read by everybody: they take that of the text as well.

A link to the next step is a link and no button, and yet what a page is for: it is drawn as the main button,
in the primary colour of the background that is shown, also under the pointer, where links are grey otherwise.

A table wider than a phone would scroll sideways in a place that the keyboard cannot reach: there its cells break.
"""

from __future__ import annotations

import streamlit as st

STYLE = """<style>
[data-testid="stSliderThumbValue"], [data-testid="stButtonGroup"] button[data-selected="true"] {
  color: inherit !important
}
[data-testid="stJson"] * { color: inherit !important; background-color: transparent !important }
:is(.st-key-next-step, .st-key-tour-next) a {
  background: #2b77ad !important; background: light-dark(#1f5f8b, #2b77ad) !important;
  width: fit-content; padding: 0.45rem 0.75rem
}
:is(.st-key-next-step, .st-key-tour-next) a * { color: white }
:is(.st-key-next-step, .st-key-tour-next) a:hover { filter: brightness(0.9) }
@media (max-width: 640px) {
  [data-testid="stTable"] > div { overflow: visible !important }
  [data-testid="stTable"] table { table-layout: fixed; width: 100% }
  [data-testid="stTable"] th, [data-testid="stTable"] td {
    padding: 0.25rem !important; font-size: 0.8rem; min-width: 0 !important
  }
  [data-testid="stTable"] :is(th, td), [data-testid="stTable"] :is(th, td) * {
    white-space: normal !important; overflow-wrap: anywhere !important
  }
}
</style>"""


def apply() -> None:
    st.html(STYLE)
