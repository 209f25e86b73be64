"""One run of a paid plan: run, store, return; and what an error in between means.

**Privacy** A plan that was paid for may be run again for nothing only if the earlier run ended for a reason that
does not depend on its noise: it was killed, or it failed before any noise was drawn. An error *after* a draw may depend
on what was drawn; that it happened is then an outcome somebody sees, and a second run would be a second outcome for one
payment. So such an error is the stored outcome of the plan, and its last: the plan is void.

For the same reason nobody else runs the plan meanwhile, in this process or another (`ledger/attempts.py`): which of two
draws is stored must not depend on how long each took. Whatever a run keeps, it keeps only while the attempt is its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from core.base.errors import DeskError, Failed
from core.base.unexpected import noted
from core.ledger.attempts import Attempt
from core.ledger.ledger import Entry, Ledger
from core.ledger.lost_spends import VOID, VOID_DIGEST
from core.privacy.noise import NoiseSource

ENDED = (
    "The run stopped after noise was drawn, or its result was lost with an older copy, so the same payment cannot be "
    "used again; plan a fresh edition."
)


class NoiseWatcher:
    """A source of noise that knows whether anything was asked of it."""

    def __init__(self, noise: NoiseSource) -> None:
        self._noise = noise
        self.drawn = False

    def __getattr__(self, name: str) -> Any:
        self.drawn = True
        return getattr(self._noise, name)


Work = Callable[[NoiseSource, Attempt], bytes]


def run_once(ledger: Ledger, plan_id: str, noise: NoiseSource, work: Work) -> bytes:
    """The stored result of a paid plan, made now if there is none."""
    stored = ledger.result(plan_id)
    if stored is None:
        with ledger.attempts.only(plan_id) as attempt:
            stored = ledger.result(plan_id)
            if stored is None:
                # An older copy may have forgotten a result that was seen: this would be a second one.
                ledger.check_whole()
                stored = ledger.store(plan_id, _made(ledger, plan_id, noise, work, attempt), attempt)
    if stored == VOID:
        raise Failed(ENDED)
    return stored


def is_void(entry: Entry) -> bool:
    """Whether a plan ended by an error after its noise was drawn."""
    return entry.digest == VOID_DIGEST


def _made(ledger: Ledger, plan_id: str, noise: NoiseSource, work: Work, attempt: Attempt) -> bytes:
    watched = NoiseWatcher(noise)
    try:
        return work(cast(NoiseSource, watched), attempt)
    except Exception as problem:
        kind = type(problem).__name__ if isinstance(problem, DeskError) else noted(problem)
        if watched.drawn:
            return VOID
        # The note must not depend on the data: a fixed sentence and the kind of error only.
        note = str(problem) if isinstance(problem, DeskError) else f"The run stopped ({kind})."
    ledger.failed(plan_id, note)
    raise Failed(f"{note} It is paid for: run the same plan again at no cost.")
