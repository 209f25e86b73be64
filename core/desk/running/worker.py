"""Paid plans finished in a process of their own: counting and fitting share no interpreter with the pages of a server.

A worker is one more desk on the same workspace, and gets nothing but ids of plans that were paid for. What holds for
two servers holds for it too: one attempt at a plan at a time, the first result is stored, and whoever is killed can be
followed by another (`plans/run_once.py`). It ends with the server that started it.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from threading import Lock, Thread
from typing import IO, TYPE_CHECKING, Any

from core.base.errors import DeskError
from core.base.unexpected import noted
from core.desk.books import LEDGER_VARIABLE

if TYPE_CHECKING:
    from core.desk.desk import Desk

Report = Callable[[str, float], None]
ROOT = Path(__file__).resolve().parents[3]
LESS_URGENT = 7
"""Added to the nice value: a page that somebody waits for comes first, and has four fifths of a processor that both
want."""


class Worker:
    """The process, as the server sees it: started for the first plan, or before it, and again where it died."""

    def __init__(self, folder: Path, journal: Path, ledger: Path | str) -> None:
        self._ledger = ledger
        self._command = [sys.executable, "-m", "core.desk.running.worker", str(folder), str(journal)]
        self._process: subprocess.Popen[str] | None = None
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
                process.stdin.write(f"{plan_id}\n")
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

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            self._end()
            path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                # Not an argument: the address of a server may hold a password, and everybody may read arguments.
                env=os.environ | {"PYTHONPATH": path, LEDGER_VARIABLE: str(self._ledger)},
            )
        return self._process

    def _end(self) -> None:
        if self._process is not None:
            with self._process:  # closes the pipes, which it takes for the end, and waits
                pass
            self._process = None


def serve(desk: Desk, asked: Iterable[str], told: IO[str]) -> None:
    """Finish plans, one after the other, and tell how far each is; null when it is over."""

    def tell(what: object) -> None:
        told.write(f"{json.dumps(what)}\n")
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


def _main(folder: str, journal: str) -> None:
    from core.desk.desk import Desk

    # Ctrl-C in a terminal reaches every process of it; the server waits for work that is under way, and so for this.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(LESS_URGENT)
    told: Any = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever a library prints is no message
    waiting: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    Thread(target=_listen, args=(waiting,), daemon=True).start()
    serve(Desk(folder, journal=Path(journal)), iter(waiting.get, None), told)


if __name__ == "__main__":
    _main(*sys.argv[1:])
