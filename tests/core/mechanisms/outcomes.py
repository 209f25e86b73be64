"""All outcomes of a mechanism that only measures single numbers and selects, with their exact log-probabilities.

The public generator is the same in every run, so two neighbouring tables face the same candidates on the same path. A
path is the noisy number (one of a few, weighed up to a constant that all tables share) and the chosen indices.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement

import numpy as np

from core.privacy.unit import Unit
from core.table.counts import Cells
from tests.kernels import run

SEED = 5


class Undecided(Exception):
    """A selection beyond the script, with the log-probability of each of its candidates."""

    def __init__(self, scores: np.ndarray, rate: float, far: float) -> None:
        weights = rate * (scores - scores.max())
        self.logs = weights - np.log(np.exp(weights).sum()) + far


class Script:
    """A noise source that follows a path and adds up its log-probability."""

    def __init__(self, total: int, chosen: Sequence[int]) -> None:
        self._total, self._chosen, self._log = total, list(chosen), 0.0

    def laplace(self, values, *, epsilon, sensitivity):
        self._log -= abs(self._total - int(values)) * float(epsilon) / sensitivity
        return np.array(self._total)

    def select(self, scores, *, epsilon, sensitivity):
        assert scores.dtype == np.int64
        undecided = Undecided(scores, float(epsilon) / (2 * sensitivity), self._log)
        if not self._chosen:
            raise undecided
        index = self._chosen.pop(0)
        self._log = undecided.logs[index]
        return index

    def generator(self):
        return np.random.default_rng(SEED)


def outcomes(mechanism, counts: Cells, choices: int = 1, totals: Sequence[int] = (0, 3, 8)) -> np.ndarray:
    """Log-probabilities of all paths of so many choices, in a fixed order."""

    def follow(total: int, chosen: tuple[int, ...]) -> np.ndarray:
        try:
            run(mechanism, counts, Script(total, chosen))
        except Undecided as branch:
            if len(chosen) == choices - 1:
                return branch.logs
            return np.concatenate([follow(total, (*chosen, index)) for index in range(len(branch.logs))])
        raise AssertionError("the run ended before so many choices")

    return np.concatenate([follow(total, ()) for total in (totals[:1] if counts.unit.public_rows else totals)])


def tables(cells: int, most: int) -> list[tuple[int, ...]]:
    """All tables of up to so many rows."""
    found = [
        np.bincount(rows, minlength=cells)
        for size in range(most + 1)
        for rows in combinations_with_replacement(range(cells), size)
    ]
    return [tuple(int(count) for count in table) for table in found]


def pairs(unit: Unit, cells: int, most: int) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All neighbouring tables: a common part of up to so many rows, and one unit more (or another unit)."""
    held = [rows for rows in tables(cells, unit.limit) if unit.column or sum(rows) == 1]
    alone = [(0,) * cells]
    found = set()
    for common in tables(cells, most):
        for one in held:
            for other in alone if unit.neighbours == "add-remove" else held:
                first, second = _sum(common, one), _sum(common, other)
                if first != second:
                    found.add((min(first, second), max(first, second)))
    return found


def _sum(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(a + b for a, b in zip(first, second, strict=True))
