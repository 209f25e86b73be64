"""Stretches that were left whole, and hold what they have in few of their cells.

The search leaves a stretch whole while its rows do not stand out, and a range that ends inside it is taken to cut it
evenly. Where rows lie in single cells with nothing between them, that costs more than the noise of counting parts: one
number about all stretches tells (`Unevenness`), and then every stretch is counted in up to 16 parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from core.base.arrays import Columns, IntArray
from core.kernel.kernel import Kernel
from core.kernel.noise_level import Additive, NoiseLevel
from core.kernel.searches.uneven import Unevenness
from core.privacy.events import Laplace
from core.privacy.unit import Unit

PARTS = 16
"""Parts of a stretch."""
UNEVEN = 3.5
"""Stretches are cut where their largest part has on average so many times the noise of a count more than their smallest
one. On columns of 2^12 and 2^16 cells (those of the benchmark, and evenly or randomly filled ones of 20 to 13,000
cells) cutting took up to half of the error away where this was above 3.5, and added up to half of it where it was
below 3."""
SHARES = (Fraction(1, 100), Fraction(2, 100), Fraction(4, 100))
"""What of the counts' part this number gets: the least that leaves noise of `EXACT`; few stretches need more."""
EXACT = 0.5
"""In noise of a count. Where the largest share leaves twice as much, nothing is asked."""
_STEPS, _WIDEST = 16, 4
"""Stretches weigh as much as they are wide, in so many steps, up to so many times the mean: wide ones are empty."""


@dataclass(frozen=True, eq=False)
class Cut:
    """Stretches of a column, each cut into up to 16 parts of about equal width."""

    columns: Columns
    starts: IntArray
    size: int

    @property
    def parts(self) -> IntArray:
        """Where parts begin."""
        steps = np.arange(PARTS)
        return np.unique(self.starts[:, None] + (self._width[:, None] * steps) // PARTS)

    @property
    def asked(self) -> Unevenness:
        parts, widest = self.parts, _WIDEST * self.size / len(self.starts)
        weights = np.maximum(np.rint(_STEPS * np.minimum(self._width / widest, 1.0)), 1).astype(np.int64)
        return Unevenness(self.columns, (parts,), (np.searchsorted(parts, self.starts),), weights)

    @property
    def _width(self) -> IntArray:
        return np.diff(self.starts, append=self.size)


def part_of(event: Additive, share: Fraction) -> Additive:
    """A share of an event: of epsilon where noise is Laplace, of rho where it is Gaussian."""
    return Laplace(event.epsilon * share) if isinstance(event, Laplace) else type(event)(event.rho * share)


def cut_uneven(kernel: Kernel, cut: Cut, counting: Additive, sigma: float) -> tuple[IntArray, Additive]:
    """Where parts begin if stretches are uneven, else where stretches do; and what is left to count with.

    `sigma` is the noise of a stretch.
    """
    asked = cut.asked
    unit_of_one = sigma * float(asked.weights.sum())
    share = _share(asked, counting, unit_of_one, kernel.unit)
    if share is None:
        return cut.starts, counting
    told = kernel.measure(asked, part_of(counting, share))
    uneven = float(told.values) > UNEVEN * unit_of_one
    return cut.parts if uneven else cut.starts, part_of(counting, 1 - share)


def _share(asked: Unevenness, counting: Additive, scale: float, unit: Unit) -> Fraction | None:
    noise = {share: NoiseLevel.of(asked, part_of(counting, share), unit).mean_error / scale for share in SHARES}
    enough = [share for share in SHARES if noise[share] <= EXACT]
    if enough:
        return enough[0]
    return SHARES[-1] if noise[SHARES[-1]] <= 2 * EXACT else None
