"""Trials on public tables in a process of their own: they share no interpreter with the pages of a server.

Whoever plans waits for trials anyway; whoever clicks on another page meanwhile does not. The process is given functions
of this program and public facts, and gives back what they return: it has no workspace, no ledger and no table. It ends
with the server that started it.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from threading import Lock
from typing import BinaryIO, TypeVar

from core.desk.running import child_process

LESS_URGENT = 10
"""Added to the nice value: pages come first, and so do releases that were paid for."""
T = TypeVar("T")


class TrialProcess:
    """The process, as the server sees it: started with the first trial, and again where it died.

    One trial at a time. What does not come back, because the process was killed or the trial is refused, is done by
    whoever asked, who so meets the same refusal.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._turn = Lock()

    def __call__(self, function: Callable[..., T], *facts: object) -> T:
        """What a function of some module gives for these facts, all of them public."""
        with self._turn:
            found: tuple[T] | None = self._asked(function, facts)
        return function(*facts) if found is None else found[0]

    def close(self) -> None:
        """End it, whatever it is at: trials are made again."""
        if self._process is not None:
            self._process.kill()
        with self._turn:
            self._end()

    def _asked(self, function: Callable[..., T], facts: tuple[object, ...]) -> tuple[T] | None:
        try:
            question = pickle.dumps((function, facts))
        except (pickle.PicklingError, AttributeError, TypeError):
            return None  # made up in this process, and known to it alone
        try:
            process = self._running()
            assert process.stdin is not None and process.stdout is not None
            process.stdin.write(question)
            process.stdin.flush()
            found: tuple[T] | None = pickle.load(process.stdout)
            return found
        except (OSError, EOFError, pickle.UnpicklingError):
            self._end()
            return None

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._process = child_process.start(["-c", f"from {__name__} import main; main()"])
        return self._process

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            child_process.close(self._process)
            self._process = None


def answer(asked: BinaryIO, told: BinaryIO) -> None:
    """Do what is asked until nothing more comes; None where it cannot be done."""
    while True:
        try:
            function, facts = pickle.load(asked)
        except EOFError:
            return
        try:
            found = pickle.dumps((function(*facts),))
        except Exception:  # whoever asked does it again and meets the same error, with all that it says
            found = pickle.dumps(None)
        told.write(found)
        told.flush()


def main() -> None:
    told = child_process.settle(LESS_URGENT)
    answer(sys.stdin.buffer, told)
