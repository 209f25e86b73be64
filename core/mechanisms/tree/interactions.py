"""Interactions in place of tables: what sums of a table say is known already, so only the rest has to be measured.

One row's share in the interaction of a k x l table has the squared length (1 - 1/k)(1 - 1/l), so Gaussian noise for it
is smaller by the root of that than noise for the table: by half for two yes/no columns. Laplace noise follows L1 norms;
there only columns of two values gain, because one difference is told instead of two counts. The same holds for a single
column beside the number of rows. Which of the two is measured follows from the schema and the unit: it is public.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from core.base.arrays import Columns, Floats
from core.base.axes import centred
from core.kernel.interactions import Interaction
from core.kernel.kernel import Kernel
from core.kernel.noise_level import Measurement
from core.kernel.tables import Marginal
from core.mechanisms.kit.portions import Noisy, Portion
from core.privacy.unit import Unit
from core.schema.domain import Domain

WORTH = 0.95
"""Noise of an interaction, where that of the same part of a noisy table is 1, above which the table is measured: its
sums tell something as well."""
HIGHEST = 2
"""Columns of an interaction; of more, smaller tables of the same columns need not be known."""


@dataclass(frozen=True)
class BestAsked:
    """How a table is measured best with one kind of noise, if its sums are known otherwise."""

    columns: Columns
    shape: tuple[int, ...]
    unit: Unit
    pure: bool

    @classmethod
    def of(cls, columns: Columns, domain: Domain, unit: Unit, pure: bool) -> BestAsked:
        return cls(columns, domain.shape(columns), unit, pure)

    @property
    def interaction(self) -> bool:
        if len(self.columns) > HIGHEST or min(self.shape) < 2:
            return False
        return self._relative < WORTH * math.sqrt(_degrees(self.shape))

    @property
    def gain(self) -> float:
        """The noise in each cell, where that of the table before anything is known of its sums is 1."""
        return self._relative if self.interaction else 1.0

    @property
    def asked(self) -> Interaction | Marginal:
        return self._interaction if self.interaction else Marginal(self.columns)

    @property
    def _interaction(self) -> Interaction:
        return Interaction(self.columns, self.shape, centred=not self.pure)

    @property
    def _relative(self) -> float:
        mine, whole = self._interaction.change(self.unit), Marginal(self.columns).change(self.unit)
        moved = mine.l1 / whole.l1 if self.pure else math.sqrt(mine.l2_squared / whole.l2_squared)
        return moved * _left(self._interaction)


def measure(kernel: Kernel, portions: Iterable[Portion], pure: bool) -> Noisy:
    """Each of these tables, or its interaction where that is measured better."""
    tables, sigmas, residual = {}, {}, set()
    portions = list(portions)
    kernel.expect([portion.columns for portion in portions])
    for portion in portions:
        columns = portion.columns
        asked = BestAsked.of(columns, kernel.domain, kernel.unit, pure).asked
        found = kernel.measure(asked, portion.event)
        if isinstance(asked, Interaction):
            residual.add(columns)
            tables[columns], sigmas[columns] = spread(asked, found), found.sigma * _left(asked)
        else:
            tables[columns], sigmas[columns] = found.values.astype(np.float64), found.sigma
    return Noisy(tables, sigmas, frozenset(residual))


def spread(asked: Interaction, measured: Measurement) -> Floats:
    """The interaction as a table of parts of counts whose sums over any column are 0."""
    table = measured.values / asked.scale
    for place, axis in enumerate(asked.axes):
        if axis.size == 2:
            table = np.concatenate([-table, table], axis=place)
    return centred(table)


def _degrees(shape: tuple[int, ...]) -> float:
    """The part of the variance of independent noise in every cell that is left without the sums."""
    return math.prod(1 - 1 / size for size in shape)


def _left(asked: Interaction) -> float:
    """The standard deviation in each cell of what noise of 1 in each number leaves in the interaction."""
    return math.sqrt(_degrees(tuple(size for size in asked.shape if size > 2))) / asked.scale
