"""The worst parity of a release: no private table of records is within 1/(2 sqrt n) on all of them (B appendix A).

The bound's own construction is n different records out of {-1, 1}^d, drawn at random, with 2^d far above n. Parities
are an orthogonal basis, so by Parseval's identity two sets of n records of which at most half are shared differ by at
least 1/(2 sqrt n) on some parity (lemma A.5 with its constant: the squared differences of the indicators sum to at
least n). A private release cannot contain half of the secret records, except by chance (claim A.2, for epsilon of order
1); so every private table of records has such a parity. One single parity, asked alone, costs noise of only 1/(epsilon
n).

**Runtime** all 2^d parities by one fast Walsh-Hadamard transform, O(d 2^d).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core.attacks.invented import released_model
from core.base.errors import BadParameter
from core.mechanisms.kit.protocol import Mechanism
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.queries.parities import Parities
from core.schema.attributes import Booleans
from core.schema.domain import Domain
from core.table.counts import Cells
from core.theory.bound import whole

MOST_FACTS = 16


@dataclass(frozen=True, kw_only=True)
class DistinctRecords:
    """n different records of d facts; neighbours replace one, so that n is public as in the paper."""

    rows: int
    facts: int

    def __post_init__(self) -> None:
        whole("rows", self.rows)
        whole("facts", self.facts)
        if self.facts > MOST_FACTS or self.rows * 4 > 2**self.facts:
            raise BadParameter(
                "facts", f"must be at most {MOST_FACTS}, with at least four times as many records as rows."
            )

    @property
    def bound(self) -> float:
        """1/(2 sqrt n): what two tables that share at most half of their records differ by on some parity."""
        return 1 / (2 * math.sqrt(self.rows))

    @property
    def domain(self) -> Domain:
        return Domain(tuple(Booleans(name=f"fact {place + 1}") for place in range(self.facts)))

    @property
    def queries(self) -> Parities:
        return Parities(columns=self.domain.names, parity="even")

    @cached_property
    def counts(self) -> Cells:
        """Drawn once for each construction."""
        cells = np.zeros(2**self.facts, dtype=np.int64)
        cells[np.argsort(Noise().keys(len(cells)))[: self.rows]] = 1
        return Cells(self.domain, cells, Unit.row("replace"))


@dataclass(frozen=True, kw_only=True)
class ParityError:
    """What a release of the construction gets wrong."""

    worst: float
    """Of the records that are published, over all parities, as a share of the rows."""
    answered: float
    """Of the model behind them, which may answer otherwise than records do."""
    shared: float
    """The share of the secret records that are among the published ones."""


def attacked(records: DistinctRecords, mechanism: Mechanism) -> ParityError:
    """One private release of the construction: n records are published, and all parities of them compared."""
    counts = records.counts
    model = released_model(mechanism, counts)
    codes = model.sample(records.rows, Noise().generator())
    cells = np.zeros(counts.domain.shape(), dtype=np.int64)
    np.add.at(cells, tuple(codes.T), 1)
    published = Cells(counts.domain, cells, counts.unit)
    return ParityError(
        worst=records.queries.worst(counts, published),
        answered=records.queries.worst(counts, model),
        shared=float(np.minimum(cells, counts.cells).sum()) / records.rows,
    )
