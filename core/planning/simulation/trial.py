"""One run of a mechanism on a public stand-in, with noise of its own laws: how far off were the chosen questions?"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from core.mechanisms.kit.protocol import Mechanism, Progress, silent
from core.planning.rehearsal import rehearse
from core.planning.room_for_noise import COUNTED
from core.planning.simulation.simulated_noise import SimulatedNoise
from core.planning.simulation.stand_ins import StandIns
from core.registry import query_to_json

EDITION = 8
"""Counted up when mechanisms, stand-ins or scores change what a trial gives: kept figures of old ones are not used."""


@dataclass(frozen=True, kw_only=True)
class Trial:
    """The errors of one run, in rows, and how long it took."""

    mean: float
    """Of a question of a class, averaged over the classes."""
    worst: float
    """Of all questions of all classes."""
    seconds: float
    counts: float | None = None
    """Of a count of the tables that were asked for; None where no tables are."""


def trial_key(mechanism: Mechanism, stand_ins: StandIns) -> str:
    """A digest of the public facts that trials follow from."""
    own = {each.name: getattr(mechanism, each.name) for each in fields(mechanism)}  # type: ignore[arg-type]
    own |= {"queries": [query_to_json(query) for query in mechanism.queries], "budget": mechanism.budget.to_json()}
    facts: dict[str, Any] = {"edition": EDITION, "name": mechanism.name, "stand-ins": stand_ins.key, **own}
    return hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()


def make_trial(mechanism: Mechanism, stand_ins: StandIns, place: int, progress: Progress = silent) -> Trial:
    """The trial at a place: every place has a table and noise of its own, the same at every call.

    Mechanisms and budgets that are compared get the same draws, which makes differences between them plainer.
    """
    generator = np.random.default_rng([1, place, *bytes.fromhex(stand_ins.key)[:8]])
    found = rehearse(mechanism, stand_ins.table(place), SimulatedNoise(generator), progress, generator)
    tables = [score.mean for score, query in zip(found.scores, mechanism.queries, strict=True) if query.name == COUNTED]
    return Trial(
        mean=found.rows * sum(score.mean for score in found.scores) / len(found.scores),
        worst=found.rows * max(score.largest for score in found.scores),
        seconds=found.seconds,
        counts=found.rows * sum(tables) / len(tables) if tables else None,
    )
