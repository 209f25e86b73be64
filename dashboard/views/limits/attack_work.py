"""An attack in the background; what it finds stays with the visit of the curator who asked for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import uuid4

import streamlit as st

from core.desk.desk import Desk
from core.desk.release_attacks import AttackedRelease
from core.desk.running.background import Background
from core.plans.statements import RunProgress
from dashboard.views.common import messages


@dataclass
class AttackWork:
    """One attack that was asked for; nobody but its own page holds it."""

    plan_id: str
    secret: str
    id: str = field(default_factory=lambda: uuid4().hex)
    found: AttackedRelease | None = None
    problem: str | None = None

    def start(self, desk: Desk) -> None:
        queue().start(self.id, lambda _: self._run(desk))

    @property
    def progress(self) -> RunProgress | None:
        """How far it is; None once it has ended."""
        return queue().progress(self.id)

    def _run(self, desk: Desk) -> None:
        def report(stage: str, share: float) -> None:
            queue_of.report(self.id, stage, share)

        queue_of = queue()
        try:
            self.found = desk.attack(self.plan_id, self.secret, progress=report)
        except Exception as problem:
            self.problem = messages.sentence(problem)


@st.cache_resource(show_spinner=False, on_release=Background.close)
def queue() -> Background:
    """One line for all attacks, apart from the desk's: an attack never makes a paid release wait."""
    return Background()
