"""Paid plans finished in a process of their own: counting and fitting share no interpreter with the pages of a server.

A worker is one more desk on the same workspace, and gets nothing but ids of plans that were paid for. What holds for
two servers holds for it too: one attempt at a plan at a time, the first result is stored, and whoever is killed can be
followed by another (`plans/run_once.py`). It ends with the server that started it.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING, BinaryIO

from core.base.errors import DeskError
from core.base.unexpected import noted
from core.desk.books import LEDGER_VARIABLE
from core.desk.running import child_process

if TYPE_CHECKING:
    from core.desk.desk import Desk

Report = Callable[[str, float], None]
LESS_URGENT = 7
"""Added to the nice value: a page that somebody waits for comes first, and has four fifths of a processor that both
want."""


class Worker:
    """The process, as the server sees it: started for the first plan, or before it, and again where it died."""

    def __init__(self, folder: Path, journal: Path, ledger: Path | str) -> None:
        self._ledger = ledger
        self._words = ["-c", f"from {__name__} import main; main()", str(folder), str(journal)]
        self._process: subprocess.Popen[bytes] | None = None
        self._turn = Lock()

    def start(self) -> None:
        """Have it ready for a plan that is about to come; one that is at work is."""
        if self._turn.acquire(blocking=False):
            try:
                self._running()
            finally:
                self._turn.release()

    def finish(self, plan_id: str, report: Report) -> None:
        """Have a plan finished; returns when that is over, however it ended: the ledger knows."""
        with self._turn:
            process = self._running()
            assert process.stdin is not None and process.stdout is not None
            try:
                process.stdin.write(f"{plan_id}\n".encode())
                process.stdin.flush()
                for line in process.stdout:
                    told = json.loads(line)
                    if told is None:
                        return
                    report(*told)
            except (OSError, ValueError):
                pass
            self._end()

    def close(self) -> None:
        with self._turn:
            self._end()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._end()
            # Not an argument: the address of a server may hold a password.
            self._process = child_process.start(self._words, {LEDGER_VARIABLE: str(self._ledger)})
        return self._process

    def _end(self) -> None:
        if self._process is not None:
            child_process.close(self._process)
            self._process = None


def serve(desk: Desk, asked: Iterable[str], told: BinaryIO) -> None:
    """Finish plans, one after the other, and tell how far each is; null when it is over."""

    def tell(what: object) -> None:
        told.write(f"{json.dumps(what)}\n".encode())
        told.flush()

    for plan_id in asked:
        try:
            desk.finish(plan_id, lambda stage, share: tell([stage, share]))
        except DeskError:
            pass  # it is on the plan's record
        except Exception as problem:
            noted(problem)
        tell(None)


def _listen(waiting: queue.SimpleQueue[str | None]) -> None:
    for line in sys.stdin:
        waiting.put(line.strip())
    # The server is gone, and so is this, whatever it is at: as if it had been killed, so that the plan can be resumed.
    os._exit(0)


def main() -> None:
    from core.desk.desk import Desk

    folder, journal = sys.argv[1:]
    told = child_process.settle(LESS_URGENT)
    waiting: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    Thread(target=_listen, args=(waiting,), daemon=True).start()
    serve(Desk(folder, journal=Path(journal)), iter(waiting.get, None), told)
