"""What the dashboard says: the status of every number, and errors in one sentence."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

import streamlit as st

from core.base.errors import DeskError
from core.base.unexpected import noted
from core.base.wording import plural

Visibility = Literal["public", "released", "curator only"]
STATUSES: tuple[Visibility, ...] = ("public", "released", "curator only")
MOST_MISTAKES = 20
"""Lines of mistakes that are listed at once; further ones are counted."""
SHOWN_TO_VISITORS: tuple[Visibility, ...] = ("public", "released")

_LOOKS: dict[Visibility, tuple[Literal["gray", "green", "orange"], str, str]] = {
    "public": ("gray", ":material/public:", "Known to everyone: the schema, the budget and the plan say it."),
    "released": ("green", ":material/verified:", "Computed from a release; it may be shared with anyone."),
    "curator only": ("orange", ":material/lock:", "Exact and private: it must not leave this desk."),
}


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
    # The text of an unforeseen error may quote a private value, so only its kind is shown, and its place logged.
    return (
        f"This step stopped unexpectedly ({noted(problem)}); try it again. The Budget page shows what was "
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


def mistakes(where: str, count: int, lines: Sequence[str]) -> None:
    """So many mistakes in one box, so that they can be mended in one go; a line may tell several."""
    shown = "".join(f"\n- {plain(line)}" for line in lines[:MOST_MISTAKES])
    more = len(lines) - MOST_MISTAKES
    further = f"\n- and {more} more" if more > 0 else ""
    st.error(f"{plural(count, 'mistake')} {where}:{shown}{further}", icon=":material/error:")
