"""Trials of sessions in the background, on public tables only: which is best, and for how many questions it holds."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

import streamlit as st

from core.desk.running.background import Background
from core.planning.session_trials import SessionTrial

TRIES = True
"""Whether trials are made; tests of other things leave them out."""
MOST_KEPT = 200


class TrialQueue:
    """One queue for all tabs, apart from the desk's: a trial never makes a paid session wait."""

    def __init__(self) -> None:
        self._background = Background()
        self._lock = Lock()
        self._found: dict[str, SessionTrial | None] = {}

    def find(self, key: str, play: Callable[[], SessionTrial]) -> SessionTrial | None:
        """What a trial has shown; started where it was not, and None while it runs or where it cannot be made."""
        with self._lock:
            if key in self._found:
                return self._found[key]
        if TRIES:
            self._background.start(key, lambda _: self._keep(key, play))
        return None

    def runs(self, key: str) -> bool:
        return self._background.progress(key) is not None

    def close(self) -> None:
        self._background.close()

    def _keep(self, key: str, play: Callable[[], SessionTrial]) -> None:
        self._note(key, None)
        self._note(key, play())

    def _note(self, key: str, found: SessionTrial | None) -> None:
        with self._lock:
            for old in list(self._found)[: max(0, len(self._found) - MOST_KEPT + 1)]:
                del self._found[old]
            self._found[key] = found


@st.cache_resource(show_spinner=False, on_release=TrialQueue.close)
def queue() -> TrialQueue:
    return TrialQueue()
