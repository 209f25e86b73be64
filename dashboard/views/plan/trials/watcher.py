"""One watcher for all that runs beside the Plan page: each timer more could run the page again while it answers a
click."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from dashboard.views.common import messages


@dataclass(frozen=True, kw_only=True)
class Awaited:
    """Something that runs beside the page, which shows its outcome when it has ended."""

    ended: Callable[[], bool]
    then: Callable[[], None] = lambda: None
    """What is noted before the page runs again."""
    stage: Callable[[], str | None] = lambda: None
    """What it is at, where that changes."""


@st.fragment(run_every=0.5)
def watch(awaited: Sequence[Awaited]) -> None:
    """Look twice a second; when something has ended the page runs again."""
    with messages.guarded():
        ended = [each for each in awaited if each.ended()]
        for each in ended:
            each.then()
        if ended:
            st.rerun()
        for stage in filter(None, (each.stage() for each in awaited)):
            st.caption(f"{stage} …")
