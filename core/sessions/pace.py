"""When an answer leaves the desk: at the end of a fixed slot, so that its delay says nothing about the table."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Pace:
    """A clock that never runs backwards, and a way to wait; tests bring their own.

    **Privacy** how long an answer is computed may depend on the table (an update of the hypothesis takes longer than a
    look at it). What is seen of that time is the number of slots it took, which is one unless a mechanism
    underestimates its own slot, other sessions queue in front, or the machine is busy.
    """

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep

    def pad(self, started: float, slot: float) -> None:
        """Wait until a whole number of slots, at least one, has passed since the start."""
        if slot > 0:
            slots = max(1, math.ceil((self.clock() - started) / slot))
            self.sleep(max(0.0, started + slots * slot - self.clock()))
