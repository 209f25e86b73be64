"""Figures that are kept: trials of a mechanism on public stand-ins, a few first and more when asked for.

**Why trials** The variance of noise alone would tell the error only if everything after it were linear. No mechanism
that releases a table is: each leaves no count below 0 (a projection on the simplex, rising sums, weights), or learns
what to ask next, so what becomes of the noise depends on the table (`tests/core/planning/simulation/
test_linear_noise.py` checks each; a mechanism that is linear fails there). Answers with fresh noise in a session, and
what measures a release, are linear: their figures and margins are exact (`mechanisms/kit/intervals.py`,
`mechanisms/measured/measuring.py`).

**Privacy** Keys and contents follow from public facts alone: the terms, the schema, the unit, a declared number of
rows, and records that are public. So a figure may be shown to anybody, and kept where it is found again.

**Determinism** How many trials are made at first follows from a modelled time, never from the clock, and every trial
from its place: the same facts give the same figure in every process.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from threading import Lock, get_ident
from typing import Any

from core.base.errors import DeskError
from core.mechanisms.kit.protocol import Mechanism
from core.mechanisms.kit.run_time import ROWS, TABLE
from core.planning.simulation.expected_error import SPREAD, STUDIED_SPREAD, Figure, figure_of
from core.planning.simulation.fitted import Modelled, modelled
from core.planning.simulation.stand_ins import DRAWN, StandIns
from core.planning.simulation.trial import Trial, make_trial, trial_key
from core.queries.kit.focus import asked_tables

QUICK_SECONDS, QUICK_RUNS = 0.9, 18
"""What a first figure may take by the model, and the most trials it is made of: three on tables of each kind."""
ONE_SECONDS = 8.0
"""What a first figure of one trial may take: `tree` on 35 columns takes 5."""
LONGEST = 10.0
"""Seconds of one trial; where it takes longer, the model stands in."""
KIND_SECONDS = 4.0
"""What the figure of a single plan may take by the model, so that it rests on a table of every kind."""
MOST_RUNS = 24
"""Trials of a refined figure."""
MOST_KEPT = 4_000
"""Keys held in memory."""


Apart = Callable[..., Any]
"""Does what a function does with its arguments, and gives back what it gives: here, or in another process."""


def here(function: Callable[..., Any], *facts: object) -> Any:
    return function(*facts)


class Figures:
    """Trials by their public facts, in memory and, with a folder, on disk."""

    def __init__(self, folder: Path | None = None, apart: Apart = here) -> None:
        self._folder = folder
        self._apart = apart
        self._lock = Lock()
        self._known: dict[str, tuple[Trial, ...]] = {}

    def quick(self, mechanism: Mechanism, stand_ins: StandIns, runs: int | None = None) -> Figure:
        """What is known, else what a few trials show; the model where even one would take too long."""
        model = modelled(mechanism, stand_ins)
        return self._figure(mechanism, stand_ins, _first_runs(model) if runs is None else runs, model)

    def told(self, mechanism: Mechanism, stand_ins: StandIns) -> Figure:
        """The first figure of a single plan: on a table of every kind, as far as the time allows."""
        model = modelled(mechanism, stand_ins)
        kinds = min(stand_ins.kinds, QUICK_RUNS, int(KIND_SECONDS / model.cost))
        return self._figure(mechanism, stand_ins, max(kinds, _first_runs(model)), model)

    def kept(self, mechanism: Mechanism, stand_ins: StandIns) -> Figure | None:
        """What earlier trials showed; None where there were none."""
        return _figure(mechanism, stand_ins, self.trials(mechanism, stand_ins))

    def trials(self, mechanism: Mechanism, stand_ins: StandIns) -> tuple[Trial, ...]:
        """The trials that were made until now, in the order of the tables."""
        return self._trials(trial_key(mechanism, stand_ins))

    def refined(self, mechanism: Mechanism, stand_ins: StandIns) -> Iterator[Figure]:
        """Better and better figures, one after each further trial; each is kept, so whoever stops loses nothing."""
        model = modelled(mechanism, stand_ins)
        yield self._figure(mechanism, stand_ins, 0, model)
        if model.cost > LONGEST:
            return
        made = len(self.trials(mechanism, stand_ins))
        for runs in range(made + 1, MOST_RUNS + 1):
            yield self._figure(mechanism, stand_ins, runs, model)

    def _figure(self, mechanism: Mechanism, stand_ins: StandIns, runs: int, model: Modelled) -> Figure:
        key = trial_key(mechanism, stand_ins)
        trials = self._trials(key)
        try:
            while len(trials) < runs:
                trials = (*trials, self._apart(make_trial, mechanism, stand_ins, len(trials)))
                self._keep(key, trials)
        except DeskError:
            # A stand-in may be refused where the table is not; the model then speaks.
            trials = trials[:0]
        return _figure(mechanism, stand_ins, trials) or model.figure(stand_ins.rows)

    def _trials(self, key: str) -> tuple[Trial, ...]:
        with self._lock:
            if key not in self._known:
                self._known[key] = self._read(key)
            return self._known[key]

    def _keep(self, key: str, trials: tuple[Trial, ...]) -> None:
        with self._lock:
            for old in list(self._known)[: max(0, len(self._known) - MOST_KEPT)]:
                del self._known[old]
            if len(trials) > len(self._known.get(key, ())):
                self._known[key] = trials
                self._write(key, trials)

    def _read(self, key: str) -> tuple[Trial, ...]:
        if self._folder is None:
            return ()
        try:
            listed = json.loads((self._folder / f"{key}.json").read_text(encoding="utf-8"))
            return tuple(Trial(**{name: _number(value) for name, value in each.items()}) for each in listed)
        except (OSError, ValueError, TypeError, AttributeError):
            # What cannot be read is made again.
            return ()

    def _write(self, key: str, trials: tuple[Trial, ...]) -> None:
        if self._folder is None:
            return
        settle(self._folder / f"{key}.json", [asdict(trial) for trial in trials])


def _number(value: Any) -> Any:
    return None if value is None else float(value)


def _first_runs(model: Modelled) -> int:
    return min(QUICK_RUNS, max(int(QUICK_SECONDS / model.cost), int(model.cost <= ONE_SECONDS)))


def _figure(mechanism: Mechanism, stand_ins: StandIns, trials: Sequence[Trial]) -> Figure | None:
    """What trials show; counting more rows than a stand-in has takes longer by what was measured once."""
    if not trials:
        return None
    tables = {columns for query in mechanism.queries for columns in asked_tables(query, stand_ins.domain)}
    counting = TABLE * len(tables) * max(0, stand_ins.rows - DRAWN) / ROWS
    usual = STUDIED_SPREAD if mechanism.for_study else SPREAD
    return figure_of(trials, stand_ins.rows, stand_ins.sentence, counting, stand_ins.kinds, usual)


def settle(place: Path, content: Any) -> None:
    """Write a small file so that whoever reads it finds the old content or the new one."""
    place.parent.mkdir(mode=0o700, exist_ok=True)
    draft = place.with_suffix(f".{os.getpid()}-{get_ident()}")
    draft.write_text(json.dumps(content), encoding="utf-8")
    draft.replace(place)
