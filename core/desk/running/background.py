"""Work that outlives the page that asked for it: one run at a time, each followed by the id of its plan."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

from core.base.errors import DeskError
from core.plans.statements import RunProgress


class Background:
    """A queue of runs and how far each is."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="release")
        self._lock = Lock()
        self._running: dict[str, RunProgress] = {}

    def start(self, plan_id: str, work: Callable[[str], object]) -> None:
        """Queue the work on a plan unless it is queued already."""
        with self._lock:
            if plan_id in self._running:
                return
            self._running[plan_id] = RunProgress(state="running", stage="Waiting")
        self._executor.submit(self._work, plan_id, work)

    def report(self, plan_id: str, stage: str, share: float) -> None:
        with self._lock:
            if (before := self._running.get(plan_id)) is not None:
                # A step that is done stays done: what is shown never goes back.
                share = max(before.share, share)
                self._running[plan_id] = RunProgress(state="running", stage=stage, share=share)

    def progress(self, plan_id: str) -> RunProgress | None:
        """How far a queued plan is; None where nothing is queued."""
        with self._lock:
            return self._running.get(plan_id)

    def close(self) -> None:
        """Let the running work finish and accept no more."""
        self._executor.shutdown(wait=True)

    def _work(self, plan_id: str, work: Callable[[str], object]) -> None:
        """A failure is on the plan's record, so nothing is raised into the void."""
        self.report(plan_id, "Starting", 0.0)
        try:
            work(plan_id)
        except DeskError:
            pass
        finally:
            with self._lock:
                self._running.pop(plan_id, None)
