"""Which tables are worth measuring: public decisions from noisy distances.

Measuring a table with noise sigma helps where the model is off by more than the noise. How far each cell is off is not
known, only the (noisy) sum over the table. One part of it, b_c, is the chance with which rows fall into cells even if
the model is right; the rest s is taken in proportion to the model's own counts E in a share WHERE of the cells. A
measured table of C cells is projected on the simplex, which takes about t sigma from every cell, where C sigma L(t) = n
and L(t) is the mean excess of normal noise over t; then cells are moved to within sigma. So with r = (REACH + t) sigma

    value = weight (WHERE sum of max(0, s E_c / (n WHERE) - r) + sum of max(0, b_c - r) - 2 C sigma L(1 + t)):

what is gained in cells that were off, less what noise spoils in cells that were right, both as L1 distances in rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from core.base.arrays import Columns, Floats
from core.models.denoising.distances import furthest, shrunk_distances
from core.models.fitting.triangulation import Clique, Structure, cells_of, join, triangulate

REACH = 0.8
"""Standard deviations of noise by which a measured cell is still off."""
WHERE = 0.3
"""Share of the cells in which a model that is off is taken to be off."""
MOST_CLIQUE = 20_000
MOST_CELLS = 200_000
"""Cells of one clique, and of all."""
MOST_REFUSED = 60
"""Pairs that did not fit, one after the other, after which no more are tried."""
STEPS = 64
"""Numbers of tables up to this one, and its double, are all tried; beyond, so many before the number doubles."""
HALF_OF_NORMAL = 1.349
"""Standard deviations between the quartiles of normal numbers."""
_EDGES = np.geomspace(1e-3, 1e6, 46)
_LEVELS = np.linspace(0.0, 6.0, 601)
_EXCESS = np.exp(-(_LEVELS**2) / 2) / math.sqrt(2 * math.pi) - _LEVELS * ndtr(-_LEVELS)
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
    chance: Floats
    """Tables x steps: the sampling errors of those cells."""
    gains: Floats
    """The noise of what is measured of each table, where that of all its cells is 1."""
    floors: Floats
    """The part of each distance that chance alone makes."""
    unsure: Floats | float = 0.0
    """Standard deviation of what each distance may be beyond chance, given its noisy score and all others."""

    @classmethod
    def of(
        cls,
        columns: Sequence[Columns],
        weights: Mapping[Columns, float],
        models: Sequence[Floats],
        scores: NDArray[np.int64],
        sigma: float,
        gains: Mapping[Columns, float] | None = None,
    ) -> Candidates:
        """Candidates from the model's tables and noisy scores, from which noise is taken by what all of them are."""
        often, mass, chance, floors, luck = [], [], [], [], []
        for model in models:
            counts = model.ravel()
            steps = np.searchsorted(_EDGES, counts)
            number = np.bincount(steps, minlength=_EDGES.size + 1)
            held = np.bincount(steps, weights=counts, minlength=_EDGES.size + 1)
            often.append(counts.size - np.cumsum(number)[:-1])
            mass.append(counts.sum() - np.cumsum(held)[:-1])
            errors = sampling_error(counts)
            floors.append(errors.sum())
            luck.append(math.sqrt(max(counts.sum() - float((errors**2).sum()), 0.0)))
            chance.append(floors[-1] - np.cumsum(np.bincount(steps, weights=errors, minlength=_EDGES.size + 1))[:-1])
        return cls(
            tuple(columns),
            np.array([weights[key] for key in columns]),
            np.array([float(model.size) for model in models]),
            shrunk_distances(scores - np.array(floors), sigma, np.array([furthest(model) for model in models])),
            float(models[0].sum()) if models else 1.0,
            np.array(often, dtype=np.float64),
            np.array(mass),
            np.array(chance),
            np.array([1.0 if gains is None else gains[key] for key in columns]),
            np.array(floors),
            left_unsure(scores - np.array(floors), np.hypot(sigma, luck)),
        )

    def off(self) -> dict[Columns, float]:
        """How far each table is off the model, in rows, chance included."""
        return dict(zip(self.columns, (np.maximum(self.distances, 0.0) + self.floors).tolist(), strict=True))

    def missed(self) -> dict[Columns, float]:
        """By how many rows each table may be off beyond chance: the root of the mean square over what its score allows.

        Independent errors of a cell add up in squares, so a distance d more than chance c has (c + d)^2 - c^2.
        """
        unsure = np.maximum(self.unsure, 1e-9)
        part = self.distances / unsure
        inside, density = ndtr(part), np.exp(-(part**2) / 2) / math.sqrt(2 * math.pi)
        beyond = unsure * (part * inside + density)
        squared = unsure**2 * ((part**2 + 1) * inside + part * density)
        return dict(zip(self.columns, np.sqrt(2 * self.floors * beyond + squared).tolist(), strict=True))

    @property
    def sizes(self) -> Floats:
        """What each table's errors weigh, apart from what it is given."""
        return self.weights * self.cells * self.gains

    def value(self, chosen: NDArray[np.intp], sigma: Floats) -> Floats:
        """How many rows of error each chosen table saves once it is measured with this noise."""
        sigma = sigma * self.gains[chosen]
        off = np.maximum(self.distances[chosen], 1e-9) / (self.rows * WHERE)
        spread = self.cells[chosen] * sigma
        taken = np.interp(-self.rows / spread, -_EXCESS, _LEVELS)
        reach = (REACH + taken) * sigma
        gained = WHERE * off * self._above(chosen, reach / off) + self._chance(chosen, reach)
        spoiled = 2 * spread * np.interp(1 + taken, _LEVELS, _EXCESS)
        return self.weights[chosen] * (gained - spoiled)

    def shares(self, chosen: NDArray[np.intp], power: float) -> dict[Columns, float]:
        """What each chosen table gets, in proportion."""
        return {self.columns[index]: float(self.sizes[index]) ** power for index in chosen}

    def _chance(self, chosen: NDArray[np.intp], reach: Floats) -> Floats:
        """Sampling errors of the cells in which they exceed the reach of the noise, less that reach."""
        step = np.clip(np.searchsorted(_EDGES, math.pi / 2 * reach**2), 0, _EDGES.size - 1)
        return np.maximum(self.chance[chosen, step] - reach * self.often[chosen, step], 0.0)

    def _above(self, chosen: NDArray[np.intp], level: Floats) -> Floats:
        """Rows that the model's cells hold beyond this level each."""
        step = np.clip(np.searchsorted(_EDGES, level), 0, _EDGES.size - 1)
        return np.maximum(self.mass[chosen, step] - level * self.often[chosen, step], 0.0)


def sampling_error(expected: Floats) -> Floats:
    """About the mean absolute deviation of a Poisson count from its mean."""
    return np.minimum(2 * expected, np.sqrt(2 / math.pi * expected))


def left_unsure(scores: Floats, sigmas: Floats) -> Floats:
    """What is not known of distances whose scores have this noise: less than that where scores lie close together.

    Noise is what was drawn, and chance, which may have made less of a distance than it does on average. The spread of
    scores, in units of it, is taken from the middle half of them, because few strong dependences tell nothing of the
    others, and a standard deviation is added of what so many scores leave unsure of it.
    """
    if not scores.size:
        return np.zeros(0)
    low, high = np.quantile(scores / np.maximum(sigmas, 1e-9), [0.25, 0.75])
    spread = max(((high - low) / HALF_OF_NORMAL) ** 2 - 1, 0.0) + math.sqrt(2 / scores.size)
    return sigmas * math.sqrt(spread / (1 + spread))


def best_prefix(
    candidates: Candidates, order: NDArray[np.intp], power: float, sigma_of: Callable[[Floats], Floats]
) -> NDArray[np.intp]:
    """As many of the ordered tables as are worth most together, when they share one budget.

    **Runtime** O(tables x log tables): of many tables, numbers in steps are tried first, and then all about the best.
    """
    sizes = candidates.sizes**power

    def value(count: int) -> float:
        chosen = order[:count]
        return float(candidates.value(chosen, sigma_of(sizes[chosen] / sizes[chosen].sum())).sum())

    tried = [0, *_in_steps(order.size)]
    values = [0.0, *map(value, tried[1:])]
    near = int(np.argmax(values))
    between = range(tried[max(near - 1, 0)] + 1, tried[min(near + 1, len(tried) - 1)])
    found = dict(zip(tried, values, strict=True)) | {count: value(count) for count in between if count != tried[near]}
    return order[: min(found, key=lambda count: (-found[count], count))]


def _in_steps(most: int) -> list[int]:
    """Numbers from 1 to the most, each larger than the one before by 1 or by a part of it.

    >>> _in_steps(3), len(_in_steps(10_000))
    ([1, 2, 3], 427)
    """
    found = [1] if most else []
    while found and found[-1] < most:
        found.append(min(found[-1] + max(1, found[-1] // STEPS), most))
    return found


def by_value(candidates: Candidates, power: float, sigma_of: Callable[[Floats], Floats]) -> NDArray[np.intp]:
    """The most valuable tables, whatever their structure."""
    every = np.arange(len(candidates.columns))
    best = every[:0]
    sizes = candidates.sizes**power
    count = max(1, every.size // 2)
    for _ in range(3):
        typical = np.sort(sizes)[-count:].sum()
        value = candidates.value(every, sigma_of(np.minimum(sizes / typical, 1.0)))
        best = best_prefix(candidates, np.argsort(-value, kind="stable"), power, sigma_of)
        count = max(1, best.size)
    return best


def structured(
    candidates: Candidates,
    ones: Mapping[str, Floats],
    power: float,
    sigma_of: Callable[[Floats], Floats],
    forced: Sequence[tuple[str, str]] = (),
) -> tuple[NDArray[np.intp], Structure]:
    """The most valuable pairs that fit into a tree of cliques of bounded size, and that tree.

    `ones` are the shares of every column's cells; `forced` pairs are in the tree whatever they are worth.
    """
    shares = candidates.sizes**power
    count = min(len(candidates.columns), 2 * len(ones))
    best = np.arange(0)
    for _ in range(2):
        typical = shares.mean() * max(count, 1)
        taken, left = _grown(candidates, ones, sigma_of(np.minimum(shares / typical, 1.0)), forced)
        best = best_prefix(replace(candidates, distances=left), taken, power, sigma_of)
        count = best.size
    sizes = {name: share.size for name, share in ones.items()}
    cliques = triangulate(sizes, [*forced, *(candidates.columns[index] for index in best)])
    return best, join(tuple(ones), cliques)


def _grown(
    candidates: Candidates, ones: Mapping[str, Floats], sigma: Floats, forced: Sequence[tuple[str, str]]
) -> tuple[NDArray[np.intp], Floats]:
    """Pairs in the order in which they are worth most, given those before, and what was left of each distance.

    If a and b, and b and c, are off independence by the shares s and t, then a and c are off by about s t / (1 - sum of
    b's squared shares) already: exactly so when columns repeat each other or else are drawn afresh.
    """
    sizes = {name: share.size for name, share in ones.items()}
    place = {name: axis for axis, name in enumerate(ones)}
    ends = np.array([[place[name] for name in pair] for pair in candidates.columns], dtype=np.intp).reshape(-1, 2)
    spread = np.array([max(1 - float((share**2).sum()), 1e-9) for share in ones.values()])
    implied = np.diag(spread)
    every = np.arange(len(candidates.columns))
    open_, left = np.ones(every.size, dtype=bool), candidates.distances.copy()
    taken: list[int] = []
    cliques: list[Clique] = triangulate(sizes, forced)
    refused = 0
    while refused <= MOST_REFUSED:
        known = 2 * candidates.rows * implied[ends[:, 0], ends[:, 1]]
        left[open_] = np.maximum(candidates.distances - known, 0.0)[open_]
        value = np.where(open_, replace(candidates, distances=left).value(every, sigma), -np.inf)
        index = int(np.argmax(value)) if value.size else -1
        if index < 0 or value[index] <= 0:
            break
        open_[index] = False
        pair = candidates.columns[index]
        if not any(clique.issuperset(pair) for clique in cliques):
            grown = triangulate(sizes, [*forced, *(candidates.columns[each] for each in taken), pair])
            cells = [cells_of(sizes, clique) for clique in grown]
            if max(cells) > MOST_CLIQUE or sum(cells) > MOST_CELLS:
                refused += 1
                continue
            cliques, refused = grown, 0
        taken.append(index)
        _imply(implied, spread, ends[index], float(candidates.distances[index]) / (2 * candidates.rows))
    return np.array(taken, dtype=np.intp), left


def _imply(implied: Floats, spread: Floats, pair: NDArray[np.intp], share: float) -> None:
    """Carry a newly known dependence along all known ones."""
    one, two = int(pair[0]), int(pair[1])
    share = min(max(share, float(implied[one, two])), float(min(spread[one], spread[two])))
    path = np.outer(implied[:, one], implied[two]) * (share / (spread[one] * spread[two]))
    np.maximum(implied, np.maximum(path, path.T), out=implied)
