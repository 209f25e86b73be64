"""How much longer a run takes: from what is done so far, or from the plan while little is."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from threading import Lock

import streamlit as st

from core.base.errors import DeskError
from core.desk.desk import Desk
from core.plans.release_terms import ReleaseTerms
from core.plans.statements import RunProgress
from core.plans.terms import is_release
from dashboard.views.common.wording import duration

EARLY = 0.1
"""Share of the work below which the plan's own estimate says more than the clock."""
MEASURED = 0.8
"""The share at which a release has its noise and only records are left to be drawn and written."""
PER_VALUE, PACKING = 1e-6, 0.05
"""Seconds to draw and write one cell of the records, and to pack any release: with the mechanism's own time, 22 of 24
releases of the four demo tables took from half to twice what is told."""
MOST_WATCHED = 256
OTHERS = 0.7
"""What another process that waits for a processor counts: 1 if it is as urgent, less if it is not, which the load does
not tell. With loads of 12 to 26 on two processors, runs took 5 to 8 times their processor time."""
NEARLY = 1.5
"""Seconds that are nothing to wait for."""


@dataclass(frozen=True, kw_only=True)
class RemainingTime:
    """What a plan says about its own time."""

    noise: float
    """Seconds of the mechanism, by trials on public tables of the size that the table is said to have."""
    records: float
    """Seconds for the records, and for copies."""

    def times(self, factor: float) -> RemainingTime:
        return RemainingTime(noise=factor * self.noise, records=factor * self.records)


class Clocks:
    """When each run was first seen at work by this server, whoever looked."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._seen: dict[str, tuple[float, float, float]] = {}
        self._ends: dict[str, float] = {}

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

    def end(self, name: str, end: float) -> float:
        """When a run will end: as was told before, or earlier. What is left never grows while somebody waits."""
        with self._lock:
            earliest = min(end, self._ends.pop(name, end))
            self._ends[name] = earliest
            for old in list(self._ends)[: max(0, len(self._ends) - MOST_WATCHED)]:
                del self._ends[old]
            return earliest


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
    now = time.monotonic()
    elapsed, done = _clocks().elapsed(f"{plan_id}-{drawing}", progress.share, now)
    rest = remaining(elapsed, done, progress.share, estimate.times(slowdown()))
    left = _clocks().end(plan_id, now + rest) - now
    if left > 0:
        return f"{duration(left).capitalize()} left."
    return "Nearly done." if drawing and 0 < rest < NEARLY else "It takes longer than expected, and goes on."


def slowdown() -> float:
    """How many times as long a run takes here and now as alone, by how many wait for the same processors."""
    load, _, _ = os.getloadavg()
    return max(1.0, (OTHERS * load + 1) / (os.cpu_count() or 1))


def packing(columns: int, rows: int) -> float:
    """Seconds to draw, write and pack so many records."""
    return PACKING + PER_VALUE * columns * rows


@st.cache_resource(max_entries=64, show_spinner=False)
def _estimate(plan_id: str, _desk: Desk) -> RemainingTime | None:
    entry = _desk.ledger.entry(plan_id)
    if entry is None or not is_release(entry):
        return None
    try:
        terms, table = ReleaseTerms.read(entry.plan_json), _desk.table(entry.dataset_id)
        noise = _desk.plan_from(table, terms, edition=terms.edition).expected_error.seconds
        records = packing(len(table.domain), terms.records or table.notes["rows"])
        return RemainingTime(noise=noise, records=records + terms.copies * (noise + records))
    except DeskError:
        return None


@st.cache_resource(show_spinner=False)
def _clocks() -> Clocks:
    return Clocks()
