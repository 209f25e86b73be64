"""What the dashboard says: the status of every number, and errors in one sentence."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Literal

import streamlit as st

from core.base.errors import DeskError

Visibility = Literal["public", "released", "curator only"]
STATUSES: tuple[Visibility, ...] = ("public", "released", "curator only")
SHOWN_TO_VISITORS: tuple[Visibility, ...] = ("public", "released")

_LOOKS: dict[Visibility, tuple[Literal["gray", "green", "orange"], str, str]] = {
    "public": ("gray", ":material/public:", "Known to everyone: the schema, the budget and the plan say it."),
    "released": ("green", ":material/verified:", "Computed from a release; it may be shared with anyone."),
    "curator only": ("orange", ":material/lock:", "Exact and private: it must not leave this desk."),
}
_LOG = logging.getLogger("release_desk")


def badge(status: Visibility) -> None:
    color, icon, meaning = _LOOKS[status]
    st.badge(status, icon=icon, color=color, help=meaning)


def mark(status: Visibility) -> str:
    """The same badge inside a line of text."""
    color, icon, _ = _LOOKS[status]
    return f":{color}-badge[{icon} {status}]"


def note(text: str, status: Visibility) -> None:
    """A small line with its status."""
    st.markdown(f"{mark(status)} :small[{text}]")


def legend(meets: Collection[Visibility]) -> None:
    """What the marks mean that somebody meets, on every page."""
    with st.sidebar:
        st.markdown(":small[**Every number is marked**]")
        for status in meets:
            _, _, meaning = _LOOKS[status]
            st.markdown(f"{mark(status)}  \n:small[{meaning}]")


def sentence(problem: Exception) -> str:
    """One sentence about a problem that quotes nothing from a table."""
    if isinstance(problem, DeskError):
        text = str(problem)
        return text[:1].upper() + text[1:]
    # The text of an unforeseen error may quote a private value, so only its kind is kept, here and in the log.
    _LOG.error("unexpected %s", type(problem).__name__)
    return (
        f"This step stopped unexpectedly ({type(problem).__name__}); try it again. The Budget page shows what was "
        "paid, and a paid release is never lost."
    )


@contextmanager
def guarded() -> Iterator[None]:
    """Show any error as one sentence; no traceback reaches the browser or the log."""
    try:
        yield
    except Exception as problem:
        st.error(sentence(problem), icon=":material/error:")


def plain(text: object) -> str:
    """Text from a file or a schema, safe inside Markdown."""
    return "".join(f"\\{character}" if character in r"\`*_{}[]()#+-.!|<>~$:&" else character for character in str(text))
