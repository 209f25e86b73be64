"""Which tables are worth measuring: public decisions from noisy distances.

Measuring a table with noise sigma helps where the model is off by more than the noise. How far each cell is off is not
known, only the (noisy) sum s over the table; taken in proportion to the model's own counts E, cell c is off by
s E_c / n. A measured table of C cells is projected on the simplex, which takes about t sigma from every cell, where
C sigma L(t) = n and L(t) is the mean excess of normal noise over t; then cells are moved to within sigma. So

    value = weight (sum of max(0, s E_c / n - (REACH + t) sigma) - 2 C sigma L(1 + t)):

what is gained in cells that were off, less what noise spoils in cells that were right, both as L1 distances in rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from core.models.protocol import Floats
from core.models.triangulation import Clique, Structure, cells_of, join, triangulate
from core.queries.protocol import Columns

REACH = 0.8
"""Standard deviations of noise by which a measured cell is still off."""
WHERE = 0.3
"""Share of the cells in which a model that is off is taken to be off."""
MOST_CLIQUE = 20_000
MOST_CELLS = 200_000
"""Cells of one clique, and of all."""
MOST_REFUSED = 60
"""Pairs that did not fit, one after the other, after which no more are tried."""
_EDGES = np.geomspace(1e-3, 1e6, 46)
_LEVELS = np.linspace(0.0, 6.0, 601)
_EXCESS = norm.pdf(_LEVELS) - _LEVELS * norm.sf(_LEVELS)
"""Mean excess of standard normal noise over each level."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """Tables with their estimated distances from the model, in rows."""

    columns: tuple[Columns, ...]
    weights: Floats
    cells: Floats
    distances: Floats
    rows: float
    often: Floats
    """Tables x steps: how many cells the model gives more than this many rows."""
    mass: Floats
    """Tables x steps: the rows in those cells."""

    @classmethod
    def of(
        cls,
        columns: Sequence[Columns],
        weights: Mapping[Columns, float],
        models: Sequence[Floats],
        scores: NDArray[np.int64],
        sigma: float,
    ) -> Candidates:
        """Candidates from the model's tables and noisy scores, shrunk towards their mean by what is noise in them."""
        often, mass = [], []
        for model in models:
            counts = model.ravel()
            steps = np.searchsorted(_EDGES, counts)
            number = np.bincount(steps, minlength=_EDGES.size + 1)
            held = np.bincount(steps, weights=counts, minlength=_EDGES.size + 1)
            often.append(counts.size - np.cumsum(number)[:-1])
            mass.append(counts.sum() - np.cumsum(held)[:-1])
        return cls(
            tuple(columns),
            np.array([weights[key] for key in columns]),
            np.array([float(model.size) for model in models]),
            shrunk(scores.astype(np.float64), sigma),
            float(models[0].sum()) if models else 1.0,
            np.array(often, dtype=np.float64),
            np.array(mass),
        )

    def value(self, chosen: NDArray[np.intp], sigma: Floats) -> Floats:
        """How many rows of error each chosen table saves once it is measured with this noise."""
        off = np.maximum(self.distances[chosen], 1e-9) / (self.rows * WHERE)
        spread = self.cells[chosen] * sigma
        taken = np.interp(-self.rows / spread, -_EXCESS, _LEVELS)
        gained = WHERE * off * self._above(chosen, (REACH + taken) * sigma / off)
        spoiled = 2 * spread * np.interp(1 + taken, _LEVELS, _EXCESS)
        return self.weights[chosen] * (gained - spoiled)

    def _above(self, chosen: NDArray[np.intp], level: Floats) -> Floats:
        """Rows that the model's cells hold beyond this level each."""
        step = np.clip(np.searchsorted(_EDGES, level), 0, _EDGES.size - 1)
        return np.maximum(self.mass[chosen, step] - level * self.often[chosen, step], 0.0)


def shrunk(scores: Floats, sigma: float) -> Floats:
    """Noisy scores moved towards their mean as far as their spread is noise (James and Stein)."""
    spread = float(scores.var())
    trust = max(0.0, 1 - sigma**2 / spread) if spread > 0 else 0.0
    return scores.mean() + trust * (scores - scores.mean())


def best_prefix(
    candidates: Candidates, order: NDArray[np.intp], power: float, sigma_of: Callable[[Floats], Floats]
) -> NDArray[np.intp]:
    """As many of the ordered tables as are worth most together, when they share one budget."""
    best, most = order[:0], 0.0
    sizes = (candidates.weights * candidates.cells) ** power
    for count in range(1, order.size + 1):
        chosen = order[:count]
        value = float(candidates.value(chosen, sigma_of(sizes[chosen] / sizes[chosen].sum())).sum())
        if value > most:
            best, most = chosen, value
    return best


def by_value(candidates: Candidates, power: float, sigma_of: Callable[[Floats], Floats]) -> NDArray[np.intp]:
    """The most valuable tables, whatever their structure."""
    every = np.arange(len(candidates.columns))
    best = every[:0]
    sizes = (candidates.weights * candidates.cells) ** power
    count = max(1, every.size // 2)
    for _ in range(3):
        typical = np.sort(sizes)[-count:].sum()
        value = candidates.value(every, sigma_of(np.minimum(sizes / typical, 1.0)))
        best = best_prefix(candidates, np.argsort(-value, kind="stable"), power, sigma_of)
        count = max(1, best.size)
    return best


def structured(
    candidates: Candidates,
    names: Sequence[str],
    sizes: Mapping[str, int],
    power: float,
    sigma_of: Callable[[Floats], Floats],
) -> tuple[NDArray[np.intp], Structure]:
    """The most valuable pairs that fit into a tree of cliques of bounded size, and that tree."""
    every = np.arange(len(candidates.columns))
    shares = (candidates.weights * candidates.cells) ** power
    count = min(every.size, 2 * len(names))
    best = every[:0]
    for _ in range(2):
        typical = shares.mean() * max(count, 1) if every.size else 1.0
        value = candidates.value(every, sigma_of(np.minimum(shares / typical, 1.0)))
        order = np.argsort(-value, kind="stable")
        fitting = _fitting([candidates.columns[index] for index in order if value[index] > 0], sizes)
        found = {columns: index for index, columns in enumerate(candidates.columns)}
        best = best_prefix(
            candidates, np.array([found[columns] for columns in fitting], dtype=np.intp), power, sigma_of
        )
        count = best.size
    cliques = triangulate(sizes, [candidates.columns[index] for index in best])
    return best, join(names, cliques)


def _fitting(pairs: Sequence[Columns], sizes: Mapping[str, int]) -> list[Columns]:
    """Pairs in their order, each taken if the tree of cliques stays small enough with it."""
    taken: list[Columns] = []
    cliques: list[Clique] = [frozenset([name]) for name in sizes]
    refused = 0
    for pair in pairs:
        if any(clique.issuperset(pair) for clique in cliques):
            taken.append(pair)
            continue
        if refused > MOST_REFUSED:
            continue
        grown = triangulate(sizes, [*taken, pair])  # type: ignore[list-item]
        cells = [cells_of(sizes, clique) for clique in grown]
        if max(cells) <= MOST_CLIQUE and sum(cells) <= MOST_CELLS:
            taken.append(pair)
            cliques, refused = grown, 0
        else:
            refused += 1
    return taken
