"""How much longer a run takes: from what is done so far, or from the plan while little is."""

from __future__ import annotations

import time
from dataclasses import dataclass
from threading import Lock

import streamlit as st

from core.base.errors import DeskError
from core.desk.desk import Desk
from core.plans.release_terms import ReleaseTerms
from core.plans.statements import RunProgress
from core.plans.terms import is_release
from core.queries.kit.focus import asked_columns
from dashboard.views.common.wording import duration

EARLY = 0.1
"""Share of the work below which the plan's own estimate says more than the clock."""
MEASURED = 0.8
"""The share at which a release has its noise and only records are left to be drawn and written."""
PER_VALUE = 1e-6
"""Seconds to draw and write one cell of the records; 0.7e-6 were measured on an idle core."""
MOST_WATCHED = 256


@dataclass(frozen=True, kw_only=True)
class RemainingTime:
    """What a plan says about its own time."""

    noise: float
    """Seconds of the mechanism, on a table of a million rows."""
    records: float
    """Seconds for the records."""


class Clocks:
    """When each run was first seen at work by this server, whoever looked."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._seen: dict[str, tuple[float, float, float]] = {}

    def elapsed(self, name: str, share: float, now: float) -> tuple[float, float]:
        """Seconds since a run was first seen, and the share of the work done since; a run that is behind began anew."""
        with self._lock:
            began, first, latest = self._seen.pop(name, (now, share, share))
            if share < latest:
                began, first = now, share
            self._seen[name] = (began, first, share)
            for old in list(self._seen)[: max(0, len(self._seen) - MOST_WATCHED)]:
                del self._seen[old]
            return now - began, share - first


def remaining(elapsed: float, done: float, share: float, estimate: RemainingTime) -> float:
    """Seconds until the end. The records are one step, so there the clock alone counts.

    >>> remaining(12, 0.4, 0.4, RemainingTime(noise=60, records=5))
    17.0
    """
    if share >= MEASURED:
        return max(estimate.records - elapsed, 0.0)
    noise = elapsed * (MEASURED - share) / done if done >= EARLY else max(estimate.noise - elapsed, 0.0)
    return noise + estimate.records


def sentence(desk: Desk, plan_id: str, progress: RunProgress) -> str:
    """The time that is left, in words; empty where nothing is known."""
    if progress.stage == "Waiting":
        return "It waits for the run before it."
    estimate = _estimate(plan_id, desk)
    if estimate is None:
        return ""
    drawing = progress.share >= MEASURED
    elapsed, done = _clocks().elapsed(f"{plan_id}-{drawing}", progress.share, time.monotonic())
    seconds = remaining(elapsed, done, progress.share, estimate)
    return f"{duration(seconds).capitalize()} left." if seconds else "Nearly done."


@st.cache_resource(max_entries=64, show_spinner=False)
def _estimate(plan_id: str, _desk: Desk) -> RemainingTime | None:
    entry = _desk.ledger.entry(plan_id)
    if entry is None or not is_release(entry):
        return None
    try:
        terms, table = ReleaseTerms.read(entry.plan_json), _desk.table(entry.dataset_id)
        return RemainingTime(
            noise=terms.build().seconds(asked_columns(terms.queries, table.domain), table.unit),
            records=PER_VALUE * len(table.domain) * (terms.records or table.notes["rows"]),
        )
    except DeskError:
        return None


@st.cache_resource(show_spinner=False)
def _clocks() -> Clocks:
    return Clocks()
