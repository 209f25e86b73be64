"""Rehearsing a decision on invented or public rows: what it would cost beside one without privacy, for nothing.

**Privacy** The rows are invented from the public schema and a declared number, or public; no table is opened.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.base.arrays import IntArray
from core.base.errors import BadFile, printable
from core.decisions.decision import Decided, Decision
from core.kernel.kernel import Kernel
from core.planning.simulation.simulated_noise import SimulatedNoise
from core.privacy.unit import Unit
from core.schema.attributes import Attribute
from core.schema.domain import Domain
from core.table.stand_in import StandIn

HILLS = 4
"""Values of an ordered column gather around so many of them."""


@dataclass(frozen=True)
class DecisionTrial:
    """One decision on invented rows."""

    decided: Decided
    value: float
    """What it really costs there, or is worth."""
    best: float
    """The same of a decision without privacy."""

    @property
    def ratio(self) -> float:
        return self.value / self.best if self.best else float(self.value == self.best)


def rehearse_decision(decision: Decision, domain: Domain, unit: Unit, rows: int, runs: int) -> list[DecisionTrial]:
    """Decisions on as many invented tables; the noise has the kernel's laws."""
    generator = np.random.default_rng()
    return [_trial(decision, invented(domain, unit, rows, generator), generator) for _ in range(runs)]


def rehearse_on_public_rows(
    decision: Decision, rows: pd.DataFrame, domain: Domain, unit: Unit, runs: int
) -> list[DecisionTrial]:
    """As many decisions on the same public rows, which have the columns of the schema."""
    for name in domain.names:
        if name not in rows.columns:
            raise BadFile(f"The public rows lack the column '{printable(name)}'.")
    generator, table = np.random.default_rng(), StandIn.of(rows, domain, unit)
    return [_trial(decision, table, generator) for _ in range(runs)]


def _trial(decision: Decision, table: StandIn, generator: np.random.Generator) -> DecisionTrial:
    kernel = Kernel(table, SimulatedNoise(generator), decision.cost(table.domain, table.unit))
    decided = decision.run(kernel)
    return DecisionTrial(decided, decision.value(decided, table), decision.best(table))


def invented(domain: Domain, unit: Unit, rows: int, generator: np.random.Generator) -> StandIn:
    """Rows that are uneven as real ones are: some values of a column are common, others rare, columns independent."""
    columns = [_codes(attribute, rows, generator) for attribute in domain]
    return StandIn(domain, np.stack(columns, axis=1), unit)


def _codes(attribute: Attribute, rows: int, generator: np.random.Generator) -> IntArray:
    size = attribute.regular
    if attribute.ordered:
        hills = generator.integers(0, size, HILLS)[generator.integers(0, HILLS, rows)]
        spread = generator.normal(0, max(0.5, size / 12), rows)
        return np.clip(np.rint(hills + spread), 0, size - 1).astype(np.int64)
    often = 1 / np.arange(1, size + 1) ** 0.5
    return generator.permutation(size)[generator.choice(size, rows, p=often / often.sum())].astype(np.int64)
