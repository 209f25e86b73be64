"""What a model fitted on recorded runs says of a mechanism: errors and seconds, where simulating takes too long.

The runs were recorded on stand-ins of many schemas by `python -m tests.bench.kit.promise.model`, which writes
`fitted.json`: for each mechanism, coefficients of logarithms of mean error, largest error and seconds, by ridge
regression on logarithms of public facts.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from core.base.arrays import Floats
from core.mechanisms.kit.protocol import Mechanism
from core.planning.simulation.expected_error import Figure
from core.planning.simulation.stand_ins import StandIns
from core.privacy.unit import Unit
from core.queries.kit.focus import asked_tables
from core.schema.domain import Domain

FILE = Path(__file__).with_name("fitted.json")
MOST_LOG_QUESTIONS = 60.0
WIDE = 1.5
COMPETING_PART, STUDIED_PART = 1 / 8, 1 / 1.5
"""What a trial takes at least, as a part of the seconds that a mechanism says of itself: those count its steps for a
million rows. Trials of mechanisms that compete took a sixth to a half of them, of those for study most or all. The
regression knows few slow runs: a histogram of six million cells took five times what it said."""
CLASSES = (
    "marginals",
    "intervals",
    "rectangles",
    "halfspaces",
    "conjunctions",
    "parities",
    "unions",
    "counting",
    "linear",
)


@dataclass(frozen=True, kw_only=True)
class Modelled:
    """What the model says of one mechanism on tables of one kind."""

    mean: float
    worst: float
    """In the middle; its own spread comes on top."""
    seconds: float
    """Of one run."""
    cost: float
    """Seconds of one trial: the stand-in, the run and the scores."""
    mean_spread: float
    worst_spread: float
    """How far logarithms of errors were from the model."""

    def figure(self, rows: int) -> Figure:
        band = 1.645 * self.mean_spread
        return Figure(
            mean=self.mean,
            worst=min(self.worst * math.exp(1.645 * self.worst_spread), float(rows)),
            about="The chosen questions, by a model fitted on recorded runs",
            low=self.mean * math.exp(-band),
            high=min(self.mean * math.exp(band), float(rows)),
            rows=rows,
            runs=0,
            seconds=self.seconds,
            how="modelled",
        )


def features(mechanism: Mechanism, domain: Domain, unit: Unit, rows: int) -> Floats:
    """Public facts that errors and times grow with, as logarithms."""
    tables = {columns for query in mechanism.queries for columns in asked_tables(query, domain)}
    cells = [domain.cells(columns) for columns in tables]
    sizes = [min(query.log_size(domain), MOST_LOG_QUESTIONS) for query in mechanism.queries]
    noise = float(mechanism.expected(domain, unit).mean)
    kinds = [sum(query.name == name for query in mechanism.queries) / len(mechanism.queries) for name in CLASSES]
    return np.array(
        [
            1.0,
            math.log(max(noise, 1e-3)),
            math.log(rows),
            math.log(len(cells)),
            math.log(sum(cells)),
            math.log(max(cells)),
            math.log(len(domain)),
            max(sizes),
            min(math.log(domain.cells()), MOST_LOG_QUESTIONS),
            math.log(float(mechanism.budget.epsilon)),
            float(mechanism.budget.pure),
            math.log(max(mechanism.seconds(domain, unit), 1e-3)),
            *kinds,
        ]
    )


def modelled(mechanism: Mechanism, stand_ins: StandIns) -> Modelled:
    """The model at the facts of these stand-ins."""
    own, most = fits().get(mechanism.name), math.log(stand_ins.rows)
    if own is None:
        return _unfitted(mechanism, stand_ins)
    found = features(mechanism, stand_ins.domain, stand_ins.unit, stand_ins.rows)

    def said(target: str, most: float) -> float:
        return math.exp(min(float(found @ np.array(own[target])), most))

    mean = said("mean", most)
    counted = mechanism.seconds(stand_ins.domain, stand_ins.unit)
    return Modelled(
        mean=mean,
        worst=max(said("worst", most), mean),
        seconds=said("seconds", 20.0),
        cost=max(said("cost", 20.0), counted * (STUDIED_PART if mechanism.for_study else COMPETING_PART)),
        mean_spread=own["mean_spread"],
        worst_spread=own["worst_spread"],
    )


def _unfitted(mechanism: Mechanism, stand_ins: StandIns) -> Modelled:
    """A mechanism that nothing was recorded of yet: what it says of itself, with a wide band."""
    told = mechanism.expected(stand_ins.domain, stand_ins.unit)
    seconds = mechanism.seconds(stand_ins.domain, stand_ins.unit)
    return Modelled(
        mean=told.mean, worst=told.worst, seconds=seconds, cost=seconds, mean_spread=WIDE, worst_spread=WIDE
    )


@cache
def fits() -> dict[str, Any]:
    """The coefficients of each mechanism."""
    read: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return read
