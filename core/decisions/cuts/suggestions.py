"""Cuts that are small in a public, noisy graph: worth comparing by what they cost in the private one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Floats

MOVES = 200
DOUBTFUL = 40
"""Vertices nearest to changing sides; all pairs of them are also moved together."""
VECTORS = 6
"""Directions along which the vertices of a noisy graph are swept for cuts."""
CONTRACTIONS = 50
"""Random contractions: each ends at a smallest cut with a chance of at least 2/n^2, and far likelier where it is much
smaller than the others."""


def most_suggested(vertices: int) -> int:
    return vertices + CONTRACTIONS + VECTORS * (vertices - 1 + 1 + vertices + DOUBTFUL * (DOUBTFUL - 1) // 2)


def suggested(weights: Floats, generator: np.random.Generator) -> NDArray[np.bool_]:
    """Cuts that may be small in a graph with noisy weights: single vertices, sweeps along its main directions, the two
    sides of each direction after vertices moved to where they have more edges, with a vertex or two moved back, and
    what random contractions leave.

    Weights enter as they are, negative ones too: noise around 0 then cancels in large cuts. Contractions alone need
    chances, for which negative weights are 0.
    """
    noisy = np.array(weights)
    np.fill_diagonal(noisy, 0.0)
    vertices = len(noisy)
    found = [np.arange(vertices) == vertex for vertex in range(vertices)]
    centred = noisy - noisy.mean()
    _, directions = np.linalg.eigh(np.diag(noisy.sum(axis=1)) - noisy)
    _, others = np.linalg.eigh(centred)
    for vector in (*directions.T[: VECTORS // 2], *others.T[::-1][: VECTORS - VECTORS // 2]):
        place = np.argsort(np.argsort(vector))
        found.extend(place < count for count in range(1, vertices))
        found.extend(_around(noisy, vector > np.median(vector)))
    found.extend(contracted(np.maximum(noisy, 0.0), generator) for _ in range(CONTRACTIONS))
    sides = np.array(found)
    sides = np.where(sides[:, :1], ~sides, sides)
    return np.asarray(np.unique(sides[sides.any(axis=1)], axis=0))


def _around(noisy: Floats, start: NDArray[np.bool_]) -> Iterator[NDArray[np.bool_]]:
    side = start.copy()
    for _ in range(MOVES):
        # How much more weight a vertex has to the other side than to its own.
        gains = np.where(side, 1, -1) * (noisy @ np.where(side, -1.0, 1.0))
        if gains.max() <= 0 or side.sum() in (1, len(side) - 1):
            break
        side[int(np.argmax(gains))] ^= True
    yield side
    doubtful = np.argsort(-gains)
    for vertex in doubtful:
        yield side ^ (np.arange(len(side)) == vertex)
    for one, two in combinations(doubtful[:DOUBTFUL], 2):
        yield side ^ np.isin(np.arange(len(side)), (one, two))


def contracted(weights: Floats, generator: np.random.Generator) -> NDArray[np.bool_]:
    """The two sides that are left when vertices are joined along edges drawn by their weight (Karger 1993)."""
    held, owner = weights.copy(), np.arange(len(weights))
    np.fill_diagonal(held, 0.0)
    left = np.ones(len(weights), dtype=bool)
    for _ in range(len(weights) - 2):
        degrees = np.where(left, held.sum(axis=1), 0.0)
        one = int(generator.choice(np.flatnonzero(left)) if degrees.sum() <= 0 else _drawn(degrees, generator))
        rest = np.where(left, held[one], 0.0)
        rest[one] = 0.0
        others = np.flatnonzero(left & (np.arange(len(left)) != one))
        two = int(generator.choice(others) if rest.sum() <= 0 else _drawn(rest, generator))
        held[one] += held[two]
        held[:, one] += held[:, two]
        held[one, one] = 0.0
        held[two], held[:, two], left[two] = 0.0, 0.0, False
        owner[owner == two] = one
    return np.asarray(owner == owner[0])


def _drawn(weights: Floats, generator: np.random.Generator) -> int:
    sums = np.cumsum(weights)
    return int(np.searchsorted(sums, generator.random() * sums[-1], side="right"))
