"""How a text file is written: its letters and its decimal sign.

Neither is guessed from the rows, where one odd cell would change how all others are read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any

import streamlit as st

from core.table.files import DecimalSign, Encoding
from dashboard.views.data import upload

ENCODINGS: dict[str, Encoding] = {"UTF-8, as usual": "utf-8", "Latin-1, as older Western programs write": "latin-1"}
DECIMALS: dict[str, DecimalSign] = {"point: 1.5": ".", "comma: 1,5": ","}
FIELDS: tuple[tuple[str, str, Mapping[str, str]], ...] = (
    ("Letters of a text file", "text-encoding", ENCODINGS),
    ("Decimal sign of a text file", "text-decimal", DECIMALS),
)


def show(name: str, changed: Callable[..., None], *args: Any) -> None:
    """Two fields for a file of this name if it is a text; every other kind of file says it itself."""
    if PurePath(name).suffix.lower() not in upload.TEXTS:
        return
    with st.container(horizontal=True):
        for label, key, choices in FIELDS:
            st.selectbox(label, choices, key=key, persist_state="session", on_change=changed, args=args)


def said() -> tuple[Encoding, DecimalSign]:
    """What the fields say, or would start with."""
    encoding = ENCODINGS.get(str(st.session_state.get("text-encoding")), "utf-8")
    return encoding, DECIMALS.get(str(st.session_state.get("text-decimal")), ".")


def fill(written: tuple[Encoding, DecimalSign]) -> None:
    """Let the fields say this; before they are drawn."""
    for (_, key, choices), value in zip(FIELDS, written, strict=True):
        st.session_state[key] = next(label for label, meant in choices.items() if meant == value)
