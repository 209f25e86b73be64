"""The first trials of all mechanisms run beside the page, which can be used meanwhile and shows them when they end."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TypeVar

import streamlit as st

from core.plans.statements import DeskTable
from dashboard.views.common import messages
from dashboard.views.common.state import PageState
from dashboard.views.plan import offers

PATIENCE = 0.3
"""Seconds that a page waits for them: what is known, or quickly tried, is there at once."""
AT_ONCE = 2
"""Choices of all visitors together that are tried at the same time."""

Found = TypeVar("Found")


def found(here: PageState, table: DeskTable, wanted: Hashable, make: Callable[[], Found]) -> Found | None:
    """What the trials showed; while they are under way what earlier ones showed for the same choice, or None.

    The page looks again by itself when they end.
    """
    if here.trying is None or here.trying[0] != wanted:
        if here.trying is not None:
            here.trying[1].cancel()
        here.trying = (wanted, _pool().submit(make))
    work: Future[Found] = here.trying[1]
    wait([work], PATIENCE)
    if not work.done():
        _keep_typed(table)
        _watch(work)
        return here.tried[1] if here.tried is not None and here.tried[0] == wanted else None
    here.trying = None
    here.tried = (wanted, work.result())
    return work.result()


def _keep_typed(table: DeskTable) -> None:
    """Streamlit forgets the fields of a page that it does not reach; naming them makes it keep what they hold."""
    for key in list(st.session_state):
        if str(key).startswith((offers.option_key(table, ""), offers.study_key(table))):
            st.session_state[key] = st.session_state[key]


@st.fragment(run_every=0.5)
def _watch(work: Future[Found]) -> None:
    with messages.guarded():
        if work.done():
            st.rerun()
        st.caption(":material/hourglass_top: Trying the mechanisms on public tables …")


@st.cache_resource(show_spinner=False, on_release=ThreadPoolExecutor.shutdown)
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=AT_ONCE, thread_name_prefix="first-trials")
