"""Intervals over ever finer bits, and the median that they would give away (B section 5).

The tables of the impossibility: most rows at the lowest value, some at one secret value v. A release that is right on
every interval names v; as v may be any of 2^b - 1 values, the noise has to grow with b. In the paper the column is real
and the error has no bound; with b bits it is at least `theory.lower_bounds.packing`.

**The reduction** from the median: a binary search over the answers of the release, which costs nothing more. If every
interval is within alpha, the value it finds has a rank within alpha of the middle (corollary 5.2).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.attacks.invented import released_model
from core.base.arrays import Floats
from core.base.errors import BadParameter
from core.mechanisms.kit.protocol import Mechanism
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.queries.intervals import Intervals
from core.schema.domain import Domain
from core.schema.ordered import Integers
from core.table.counts import Cells, Source
from core.theory.bound import whole

COLUMN = "value"
MOST_BITS = 18


@dataclass(frozen=True, kw_only=True)
class SecretValue:
    """n rows of b bits, of which some are at a secret value and the others at 0; neighbours replace one row."""

    bits: int
    rows: int
    moved: int
    """Rows at the secret value."""

    def __post_init__(self) -> None:
        whole("bits", self.bits)
        whole("rows", self.rows)
        if self.bits > MOST_BITS or not 0 <= self.moved <= self.rows:
            raise BadParameter("bits", f"must be at most {MOST_BITS}, and no more rows moved than there are.")

    @property
    def domain(self) -> Domain:
        return Domain((Integers(name=COLUMN, low=0, high=2**self.bits - 1),))

    @property
    def queries(self) -> Intervals:
        return Intervals(column=COLUMN)

    def drawn(self) -> Cells:
        """A table with a fresh secret."""
        cells = np.zeros(2**self.bits, dtype=np.int64)
        cells[0] = self.rows - self.moved
        cells[1 + int(Noise().below(2**self.bits - 1, 1)[0])] += self.moved
        return Cells(self.domain, cells, Unit.row("replace"))


@dataclass(frozen=True, kw_only=True)
class IntervalError:
    """What one release gets wrong, as shares of the rows."""

    worst: float
    """Over all intervals."""
    median: float
    """How far the rank of the released median is from the middle."""
    found: bool
    """Whether the secret value is the heaviest one of the release, beside 0."""


def released(secret: SecretValue, mechanism: Mechanism) -> IntervalError:
    """One private release of a fresh table."""
    counts = secret.drawn()
    model = released_model(mechanism, counts)
    told = np.asarray(model.marginal((COLUMN,)), dtype=np.float64)
    return IntervalError(
        worst=secret.queries.worst(counts, model),
        median=rank_error(counts, median_of(told)),
        found=bool(int(np.argmax(told[1:])) == int(np.argmax(counts.cells[1:]))),
    )


def median_of(table: Floats) -> int:
    """The value at which a binary search over intervals from the lowest one ends: the first with half of the rows."""
    sums = np.maximum.accumulate(np.cumsum(table))
    low, high = 0, len(table) - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if sums[middle] >= sums[-1] / 2 else (middle + 1, high)
    return low


def rank_error(truth: Source, value: int) -> float:
    """How far 1/2 is from the ranks that a value has: rows below it to rows up to it, as shares."""
    counts = np.asarray(truth.marginal((COLUMN,)), dtype=np.float64)
    below, upto = counts[:value].sum() / counts.sum(), counts[: value + 1].sum() / counts.sum()
    return float(max(0.0, below - 0.5, 0.5 - upto))
