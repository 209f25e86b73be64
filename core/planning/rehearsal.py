"""Run a whole plan on public stand-in rows: what would the errors be, and how long would it take?

**Privacy** A rehearsal touches no private table, so it is free and its figures may be shown to anyone.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from core.kernel.kernel import Kernel
from core.mechanisms.kit.protocol import Mechanism, Progress, silent
from core.models.widened import widened
from core.planning.scoring import Score, score
from core.privacy.noise import NoiseSource
from core.queries.kit.focus import asked_columns
from core.queries.kit.protocol import rows_of
from core.table.counts import Counts


@dataclass(frozen=True, kw_only=True, eq=False)
class Rehearsal:
    """What a plan would have done to a public table."""

    rows: int
    scores: tuple[Score, ...]
    seconds: float


def rehearse(
    mechanism: Mechanism,
    standin: Counts,
    noise: NoiseSource,
    progress: Progress = silent,
    generator: np.random.Generator | None = None,
) -> Rehearsal:
    """Release the stand-in as the desk would, and compare; `generator` picks questions of large classes."""
    # What this thread works, so that a busy machine does not make a mechanism look slow.
    started = time.thread_time()
    domain = asked_columns(mechanism.queries, standin.domain)
    kernel = Kernel(standin.project(domain.names), noise, mechanism.cost(domain, standin.unit))
    model = mechanism.run(kernel, progress)
    seconds = time.thread_time() - started
    return Rehearsal(
        rows=int(rows_of(standin)),
        scores=score(mechanism.queries, standin, widened(standin.domain, model), generator),
        seconds=seconds,
    )
