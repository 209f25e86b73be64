"""Looking again and again for what another server left: nobody says that a server has died."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread

from core.base.errors import DeskError


class TakeOver:
    """A thread that looks every so many seconds, until it is closed."""

    def __init__(self, look: Callable[[], object], seconds: float) -> None:
        self._look = look
        self._seconds = seconds
        self._over = Event()
        self._thread = Thread(target=self._run, name="take-over", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._over.wait(self._seconds):
            # A database that cannot be reached now is asked again.
            with suppress(DeskError):
                self._look()
