"""How often may be asked: so many questions a minute for each key, counted by this server."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock

MINUTE = 60.0


class Rates:
    """A bucket per session that fills steadily up to a minute's questions (token bucket); safe from any thread.

    A statement takes all its questions at once and may leave a debt, which has to be filled before the next: what is
    asked in the long run keeps to the rate, whatever the statements are.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._buckets: dict[str, tuple[float, float]] = {}

    def wait(self, session: str, per_minute: int) -> float:
        """Seconds until one more question may be asked; 0 takes it."""
        with self._lock:
            held = self._held(session, per_minute)
            if held < 1:
                return (1 - held) * MINUTE / per_minute
            self._buckets[session] = held - 1, self._clock()
            return 0.0

    def charge(self, session: str, per_minute: int, questions: int) -> None:
        """Take more questions that were found to be asked."""
        with self._lock:
            self._buckets[session] = self._held(session, per_minute) - questions, self._clock()

    def _held(self, session: str, per_minute: int) -> float:
        held, since = self._buckets.get(session, (float(per_minute), self._clock()))
        return min(float(per_minute), held + (self._clock() - since) * per_minute / MINUTE)
