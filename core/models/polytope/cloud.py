"""Fractional histograms sampled from what released answers leave possible, answering by their median (T 4.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.base.arrays import Floats
from core.base.axes import summed
from core.kernel.query import Query
from core.models.databases import everywhere
from core.models.polytope.mixing import Mixing
from core.models.polytope.polytope import Polytope
from core.models.polytope.walk import cut, spread, walk
from core.schema.domain import Domain

WORK = 250_000_000
"""What one walk may do, in the units of `sweeps`: about a second."""
FEWEST_SWEEPS, MOST_SWEEPS = 8, 128


def sweeps(cells: int, chains: int, slabs: int) -> int:
    """Sweeps of a walk at most: a sweep takes some 4 ns x chains x (cells + 600) x (slabs + 20)."""
    return int(np.clip(WORK // (chains * (cells + 600) * (slabs + 20)), FEWEST_SWEEPS, MOST_SWEEPS))


@dataclass(frozen=True, eq=False, kw_only=True)
class Cloud:
    """Points of a polytope, nearly uniform, and the polytope itself.

    With `spare` there is one more cell that no question counts: histograms whose mass is at most, not exactly, 1, as
    T has them.
    """

    domain: Domain
    total: float
    body: Polytope
    points: Floats
    mixing: Mixing
    spare: bool = False

    @classmethod
    def start(
        cls, domain: Domain, total: float, chains: int, generator: np.random.Generator, *, spare: bool = False
    ) -> Cloud:
        cells = domain.cells() + spare
        first = spread(cells, chains, generator)
        return cls(
            domain=domain,
            total=total,
            body=Polytope.simplex(cells),
            points=first.points,
            mixing=first.mixing,
            spare=spare,
        )

    def __len__(self) -> int:
        return len(self.points)

    def values(self, question: Query) -> Floats:
        """Each point's answer in rows."""
        return np.asarray(self.points @ self._weights(question)) * self.total

    def learnt(self, question: Query, value: float, half: float, generator: np.random.Generator) -> Cloud:
        """The body cut to answers within `half` rows of a released one, and new points of it."""
        low, high = np.clip((value - half) / self.total, 0.0, 1.0), np.clip((value + half) / self.total, 0.0, 1.0)
        least = half / self.total
        # An answer that noise carried beyond the table leaves the outermost part.
        low, high = min(float(low), 1 - least), max(float(high), least)
        body, middle = cut(self.body, self.points, self._weights(question), low, high)
        most = sweeps(body.cells, len(self), body.slabs)
        walked = walk(body, middle, len(self), generator, most=most)
        return replace(self, body=body, points=walked.points, mixing=walked.mixing)

    def marginal(self, columns: Sequence[str]) -> Floats:
        """The mean over all points, which is a table that fits together."""
        cells = self.points.mean(axis=0)[: self.domain.cells()] * self.total
        return summed(cells.reshape(self.domain.shape()), self.domain.names, columns)

    def _weights(self, question: Query) -> Floats:
        weights = everywhere(question, self.domain) / question.denominator
        return np.append(weights, 0.0) if self.spare else weights
