"""What public projects are worth to the rows of the private table, which are agents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from core.base.arrays import Columns, IntArray
from core.kernel.asked import Asked, AskedScores, Change, one_number
from core.kernel.remembered import Remembered
from core.privacy.unit import Unit

VALUE = 2**10
"""Steps of the largest value that an agent can give to a project."""


@dataclass(frozen=True)
class Valued:
    """What each row, an agent, would give for each of several columns, the projects: from 0 to VALUE steps.

    A code c of a column with r ordinary codes is worth c VALUE/(r - 1), rounded down; codes after those nothing. Of
    several projects an agent enjoys the best one.
    """

    columns: Columns
    ordinary: tuple[int, ...]

    def values(self, codes: IntArray) -> IntArray:
        most = np.array(self.ordinary, dtype=np.int64)
        return np.where(codes < most, codes * VALUE // np.maximum(most - 1, 1), 0)

    def best(self, counts: Any, chosen: Sequence[int]) -> tuple[IntArray, IntArray, IntArray]:
        """Values of distinct agents, what each enjoys of the chosen projects, and how many agents are like it."""
        codes, often = counts.combinations(self.columns)
        values = self.values(np.asarray(codes, dtype=np.int64).reshape(-1, len(self.columns)))
        held = values[:, list(chosen)].max(axis=1) if chosen else np.zeros(len(values), dtype=np.int64)
        return values, held, np.asarray(often, dtype=np.int64)


@dataclass(frozen=True)
class Gains(AskedScores):
    """What every project that is left adds to what the agents enjoy of the chosen ones, in steps of 1/VALUE.

    **Sensitivity** one agent's gain lies between 0 and VALUE: L VALUE.
    """

    one_sided: ClassVar[bool] = True

    valued: Valued
    chosen: tuple[int, ...]

    def scores(self, counts: Remembered) -> IntArray:
        values, held, often = self.valued.best(counts, self.chosen)
        gains = np.maximum(values - held[:, None], 0)
        found = often @ gains if len(values) else np.zeros(len(self.valued.columns), dtype=np.int64)
        return np.asarray(np.delete(found, list(self.chosen)), dtype=np.int64)

    def sensitivity(self, unit: Unit) -> int:
        return unit.limit * VALUE


@dataclass(frozen=True)
class Welfare(Asked):
    """What all agents together enjoy of some projects, in steps of 1/VALUE.

    **Change** `one_number`: an agent adds from 0 to VALUE.
    """

    valued: Valued
    chosen: tuple[int, ...]

    def counts(self, counts: Remembered) -> IntArray:
        _, held, often = self.valued.best(counts, self.chosen)
        return np.array([int(often @ held) if len(held) else 0], dtype=np.int64)

    def change(self, unit: Unit) -> Change:
        return one_number(unit, VALUE)


@dataclass(frozen=True)
class SetWelfare(AskedScores):
    """What all agents together enjoy of each of several public sets of projects, in steps of 1/VALUE.

    **Sensitivity** an agent enjoys from 0 to VALUE of a set: L VALUE.
    """

    one_sided: ClassVar[bool] = True

    valued: Valued
    sets: tuple[tuple[int, ...], ...]

    def scores(self, counts: Remembered) -> IntArray:
        values, _, often = self.valued.best(counts, ())
        if not len(values):
            return np.zeros(len(self.sets), dtype=np.int64)
        return np.array([int(often @ values[:, list(chosen)].max(axis=1)) for chosen in self.sets], dtype=np.int64)

    def sensitivity(self, unit: Unit) -> int:
        return unit.limit * VALUE
