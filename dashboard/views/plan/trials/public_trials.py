"""Trials in the background: figures of the offered plans get better while the page is read, on public tables only."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock
from uuid import uuid4

import streamlit as st

from core.base.errors import DeskError
from core.desk.desk import Desk
from core.desk.running.background import Background
from core.planning.simulation.error_map import ErrorMap
from core.planning.simulation.stand_ins import StandIns
from core.plans.plan import Plan
from core.plans.statements import RunProgress
from dashboard.views.common.latest import keep_latest

SECONDS = 8.0
"""Of one refinement, for all plans together; what was tried until then is kept."""
SECONDS_VARIABLE = "RELEASE_DESK_TRIAL_SECONDS"
"""Another number of seconds, 0 for none, where a server has no processor to spare."""
MOST_KEPT = 50
"""Error maps that are remembered for all visitors together."""


@dataclass(frozen=True, kw_only=True)
class Refinement:
    """What one tab wants to know better."""

    plans: Sequence[Plan]
    """The chosen one first."""
    stand_ins: StandIns
    desk: Desk
    id: str = field(default_factory=lambda: uuid4().hex)


class PublicTrials:
    """One queue for all visitors, apart from the desk's: trials never make a paid release wait in line."""

    def __init__(self) -> None:
        self._background = Background()
        self._lock = Lock()
        self._dropped: set[str] = set()
        self._maps: dict[tuple[str, str], ErrorMap] = {}

    def start(self, wanted: Refinement) -> None:
        self._background.start(wanted.id, lambda _: self._worked(wanted))

    def drop(self, refinement_id: str) -> None:
        """Stop after the trial under way: the tab wants something else by now."""
        with self._lock:
            self._dropped.add(refinement_id)

    def progress(self, refinement_id: str) -> RunProgress | None:
        return self._background.progress(refinement_id)

    def map(self, plan: Plan, stand_ins: StandIns) -> ErrorMap | None:
        with self._lock:
            return self._maps.get((plan.id, stand_ins.key))

    def close(self) -> None:
        self._background.close()

    def _worked(self, wanted: Refinement) -> None:
        try:
            self._work(wanted)
        finally:
            with self._lock:
                self._dropped.discard(wanted.id)

    def _work(self, wanted: Refinement) -> None:
        stop = time.monotonic() + seconds()
        if self.map(wanted.plans[0], wanted.stand_ins) is None:
            self._background.report(wanted.id, "Where the errors will be", 0.0)
            self._keep(wanted, wanted.desk.error_map(wanted.plans[0], wanted.stand_ins))
        for place, plan in enumerate(wanted.plans):
            self._background.report(wanted.id, f"More trials of '{plan.mechanism}'", place / len(wanted.plans))
            try:
                for _ in wanted.desk.refine(plan, stand_ins=wanted.stand_ins):
                    if time.monotonic() > stop or self._is_dropped(wanted.id):
                        return
            except DeskError:
                # A plan that cannot be tried keeps the figure it has.
                continue

    def _is_dropped(self, refinement_id: str) -> bool:
        with self._lock:
            return refinement_id in self._dropped

    def _keep(self, wanted: Refinement, found: ErrorMap) -> None:
        with self._lock:
            keep_latest(self._maps, (wanted.plans[0].id, wanted.stand_ins.key), found, MOST_KEPT)


def seconds() -> float:
    """How long figures get better after each choice; a value that is not understood changes nothing."""
    try:
        return max(0.0, float(os.environ.get(SECONDS_VARIABLE, SECONDS)))
    except ValueError:
        return SECONDS


@st.cache_resource(show_spinner=False, on_release=PublicTrials.close)
def service() -> PublicTrials:
    return PublicTrials()
