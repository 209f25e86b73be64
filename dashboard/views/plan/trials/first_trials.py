"""What takes seconds runs beside the Plan page, which can be used meanwhile and shows the outcome when it is there."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TypeVar

import streamlit as st

from core.plans.statements import DeskTable
from dashboard.views.common.latest import keep_latest
from dashboard.views.common.state import PageState
from dashboard.views.plan import offers
from dashboard.views.plan.trials.watcher import Awaited

PATIENCE = 0.3
"""Seconds that a page waits: what is quickly tried is there at once."""
AT_ONCE = 2
"""Choices of all visitors together that are tried at the same time."""
KEPT = 48
"""Outcomes that a session remembers."""
TRYING = "Trying the mechanisms on public tables"
PRICING = "Pricing this choice"
COMPARING = "Comparing the mechanisms"

Found = TypeVar("Found")


def found(here: PageState, what: str, about: Hashable, make: Callable[[], Found]) -> Found | None:
    """What was found about a choice, or None while that is under way; the page then looks again by itself.

    Where the figures have become better since, the last outcome is shown until the new one is there.
    """
    known = here.found.get((what, about))
    if known is not None and known[0] == here.refined:
        outcome: Found = known[1]
        return outcome
    work = _begun(here, what, (about, here.refined), make)
    wait([work], PATIENCE)
    if work.done():
        del here.trying[what]
        keep_latest(here.found, (what, about), (here.refined, work.result()), KEPT)
        return work.result()
    st.caption(f":material/hourglass_top: {what} …")
    here.awaited.append(Awaited(ended=work.done))
    return None if known is None else known[1]


def _begun(here: PageState, what: str, wanted: Hashable, make: Callable[[], Found]) -> Future[Found]:
    """The work under way, if it is still what is wanted; else it is given up for a new one."""
    under_way = here.trying.get(what)
    if under_way is not None and under_way[0] == wanted:
        return under_way[1]
    if under_way is not None:
        under_way[1].cancel()
    work = _pool().submit(make)
    here.trying[what] = (wanted, work)
    return work


def keep_typed(table: DeskTable) -> None:
    """Where the mechanisms and their options are not drawn: Streamlit forgets the fields of a page that it does not
    reach; naming them makes it keep what they hold."""
    for key in list(st.session_state):
        if str(key).startswith((offers.option_key(table, ""), offers.study_key(table))):
            st.session_state[key] = st.session_state[key]


@st.cache_resource(show_spinner=False, on_release=ThreadPoolExecutor.shutdown)
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=AT_ONCE, thread_name_prefix="first-trials")
