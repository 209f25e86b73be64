"""Rehearsals in the background: a whole plan on public rows, free of charge, followed by the id of the run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

import streamlit as st

from core.desk.running.background import Background
from core.planning.rehearsal import Rehearsal, rehearse
from core.plans.release_terms import ReleaseTerms
from core.plans.statements import RunProgress
from core.privacy.noise import Noise
from core.registry import mechanism_from
from core.table.stand_in import StandIn
from dashboard.views.common import messages
from dashboard.views.common.latest import keep_latest

MOST_KEPT = 200
"""Outcomes that are remembered for all visitors together; each is a few numbers."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """A rehearsal that was asked for."""

    id: str
    table: str
    plan: ReleaseTerms
    standin: str
    """The public rows, in words."""


@dataclass(frozen=True, kw_only=True)
class Error:
    """What became of one query class, as shares of the stand-in."""

    sentence: str
    mean: float
    largest: float


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a rehearsal ended; public, because only public rows were looked at."""

    rows: int = 0
    seconds: float = 0.0
    errors: tuple[Error, ...] = ()
    problem: str | None = None

    @classmethod
    def of(cls, found: Rehearsal) -> Outcome:
        """The figures without the lists of single errors, which can be long."""
        errors = (Error(sentence=score.sentence, mean=score.mean, largest=score.largest) for score in found.scores)
        return cls(rows=found.rows, seconds=found.seconds, errors=tuple(errors))


class Rehearsals:
    """One queue for all visitors, apart from the desk's: a rehearsal never makes a paid release wait in line."""

    def __init__(self) -> None:
        self._background = Background()
        self._lock = Lock()
        self._outcomes: dict[str, Outcome] = {}

    def start(self, run: Run, standin: Callable[[], StandIn]) -> None:
        """Queue a run; the stand-in is made in the background too."""
        self._background.start(run.id, lambda _: self._keep(run.id, self._rehearsed(run, standin)))

    def progress(self, run_id: str) -> RunProgress | None:
        """How far a run is; None once it has ended."""
        return self._background.progress(run_id)

    def outcome(self, run_id: str) -> Outcome | None:
        with self._lock:
            return self._outcomes.get(run_id)

    def close(self) -> None:
        self._background.close()

    def _rehearsed(self, run: Run, standin: Callable[[], StandIn]) -> Outcome:
        def report(stage: str, share: float) -> None:
            self._background.report(run.id, stage, share)

        try:
            report("Preparing public rows", 0.0)
            plan = run.plan
            mechanism = mechanism_from(plan.mechanism, plan.queries, plan.budget, plan.options)
            return Outcome.of(rehearse(mechanism, standin(), Noise(), report))
        except Exception as problem:
            return Outcome(problem=messages.sentence(problem))

    def _keep(self, run_id: str, outcome: Outcome) -> None:
        with self._lock:
            keep_latest(self._outcomes, run_id, outcome, MOST_KEPT)


@st.cache_resource(show_spinner=False, on_release=Rehearsals.close)
def service() -> Rehearsals:
    return Rehearsals()
