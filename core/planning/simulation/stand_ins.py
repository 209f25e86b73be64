"""The public tables that a figure is simulated on: earlier releases, a public sample, else invented look-alikes.

**Privacy** None of them is computed from the private table: records of a release are post-processing of what was paid
for, a sample is public, and look-alikes follow from the schema. The number of rows is declared, or read off a release.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np

from core.base.arrays import Codes, IntArray
from core.base.errors import BadParameter
from core.base.wording import amount, plural
from core.planning.simulation.lawful_rows import lawful_rows
from core.planning.simulation.look_alike import KINDS, ColumnSketch, look_alike
from core.privacy.unit import Unit
from core.schema.domain import Domain
from core.table.counts import Counts, Projected
from core.table.stand_in import StandIn

DRAWN = 20_000
"""Rows of a stand-in; a larger table is these rows several times over, so that it is counted as fast."""
MOST_ROWS = 10**10
FIRST_GUESS = 10_000
"""Rows where nothing is known or declared."""


def rounded_rows(rows: int) -> int:
    """Two digits: what a figure is told for, so that close guesses share one.

    >>> rounded_rows(30442), rounded_rows(7)
    (30000, 7)
    """
    if isinstance(rows, bool) or not isinstance(rows, int) or not 1 <= rows <= MOST_ROWS:
        raise BadParameter("rows", f"must be a whole number from 1 to {amount(MOST_ROWS)}.")
    place = 10 ** max(0, len(str(rows)) - 2)
    return (rows + place // 2) // place * place


@dataclass(frozen=True, eq=False)
class StandIns:
    """Any number of public tables of one schema, unit and size, the same ones whenever they are asked for."""

    domain: Domain
    unit: Unit
    rows: int
    samples: tuple[Codes, ...] = ()
    """Public rows as codes, which stand-ins are drawn from; look-alikes where there are none."""
    sketch: ColumnSketch = field(default_factory=dict)
    origin: str = ""
    """Where the samples come from, in words."""

    @classmethod
    def of(cls, domain: Domain, unit: Unit, rows: int, sketch: ColumnSketch | None = None) -> StandIns:
        return cls(domain, unit, rounded_rows(rows), sketch=dict(sketch or {}))

    @classmethod
    def from_samples(cls, domain: Domain, unit: Unit, rows: int, samples: Sequence[StandIn], origin: str) -> StandIns:
        """From public tables of this schema."""
        return cls(domain, unit, rounded_rows(rows), tuple(each.codes for each in samples), origin=origin)

    def project(self, domain: Domain) -> StandIns:
        """The same for some of the columns."""
        places = [self.domain.names.index(name) for name in domain.names]
        kept = {name: weights for name, weights in self.sketch.items() if name in domain}
        samples = tuple(codes[:, places] for codes in self.samples)
        return StandIns(domain, self.unit, self.rows, samples, kept, self.origin)

    @property
    def sentence(self) -> str:
        """What the tables are."""
        what = self.origin or ("invented tables that look like the sketch" if self.sketch else "invented tables")
        return f"{what} of {plural(self.rows, 'row')}"

    @property
    def kinds(self) -> int:
        """After so many places tables of the same kinds, or drawn from the same rows, come again."""
        return len(self.samples) or len(KINDS)

    @cached_property
    def key(self) -> str:
        """A digest of everything that the tables follow from."""
        facts = (
            self.domain.digest,
            self.unit,
            self.rows,
            sorted((name, tuple(map(float, each))) for name, each in self.sketch.items()),
        )
        digest = hashlib.sha256(repr(facts).encode())
        for codes in self.samples:
            digest.update(np.ascontiguousarray(codes).tobytes())
        return digest.hexdigest()

    def table(self, place: int) -> Counts:
        """The stand-in at a place; the first one of each kind is at hand for the next mechanism that is tried on it."""
        return _kept_table(self, place) if place < min(self.kinds, len(KINDS)) else self._made(place)

    def _made(self, place: int) -> Counts:
        generator = np.random.default_rng([0, place, *bytes.fromhex(self.key)[:8]])
        copies = math.ceil(self.rows / DRAWN)
        drawn = math.ceil(self.rows / copies)
        if self.samples:
            codes = self.samples[place % len(self.samples)]
            picked = generator.choice(len(codes), drawn, replace=drawn > len(codes))
            made = StandIn(self.domain, codes[picked], self.unit)
        else:
            made = look_alike(self.domain, self.unit, drawn, generator, place=place, sketch=self.sketch)
        made = lawful_rows(made, generator)
        return made if copies == 1 else Repeated(made, copies)


@lru_cache(maxsize=len(KINDS))
def _kept_table(stand_ins: StandIns, place: int) -> Counts:
    """Mechanisms are compared on the same tables, which take up to a tenth of a second to be drawn."""
    return stand_ins._made(place)


@dataclass(frozen=True, eq=False)
class Repeated:
    """A table with every row several times; implements `counts.Counts`."""

    counts: Counts
    copies: int

    @property
    def domain(self) -> Domain:
        return self.counts.domain

    @property
    def unit(self) -> Unit:
        return self.counts.unit

    @property
    def public_rows(self) -> int | None:
        rows = self.counts.public_rows
        return None if rows is None else rows * self.copies

    def marginal(self, columns: Sequence[str]) -> IntArray:
        return self.counts.marginal(columns) * self.copies

    def combinations(self, columns: Sequence[str]) -> tuple[IntArray, IntArray]:
        codes, counted = self.counts.combinations(columns)
        return codes, counted * self.copies

    def project(self, columns: Sequence[str]) -> Projected:
        return Projected(self, self.domain.project(columns))
