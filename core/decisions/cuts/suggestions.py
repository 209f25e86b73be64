"""Cuts that are small in a public, noisy graph: worth comparing by what they cost in the private one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Floats

MOVES = 200
DOUBTFUL = 40
"""Vertices nearest to changing sides; all pairs of them are also moved together."""
VECTORS = 6
"""Directions along which the vertices of a noisy graph are swept for cuts: half smooth on it, half its own heaviest."""
CONTRACTIONS = 25
"""Random contractions: each ends at a smallest cut with a chance of at least 2/n^2, and far likelier where it is much
smaller than the others."""


def most_suggested(vertices: int) -> int:
    along = VECTORS * (vertices - 1 + 1 + vertices + DOUBTFUL * (DOUBTFUL - 1) // 2)
    return vertices + 2 * (along + CONTRACTIONS)


def suggested(weights: Floats, scale: float, heaviest: float, generator: np.random.Generator) -> NDArray[np.bool_]:
    """Cuts that may be small in a graph with Laplace noise of this scale on its weights: single vertices, and those of
    the graph as it is and of the one that `cleared` makes of it."""
    vertices = len(weights)
    found = [np.arange(vertices) == vertex for vertex in range(vertices)]
    for noisy in (np.array(weights), cleared(weights, scale, heaviest)):
        np.fill_diagonal(noisy, 0.0)
        found += _suggested_by(noisy, generator)
    sides = np.array(found)
    sides = np.where(sides[:, :1], ~sides, sides)
    sides = sides[sides.any(axis=1)]
    # Eight vertices in a byte: there are thousands of sides to be told apart.
    return np.asarray(sides[np.unique(np.packbits(sides, axis=1), axis=0, return_index=True)[1]])


def cleared(weights: Floats, scale: float, heaviest: float) -> Floats:
    """Noisy weights of 0 or the heaviest, still right on average and with less noise.

    What lies beyond both says no more than that it does: clipped, Laplace noise of scale b leaves 0 at
    m = b/2 (1 - exp(-h/b)) on average and the heaviest h at h - m, which is undone.
    """
    middle = -scale / 2 * math.expm1(-heaviest / scale)
    return np.asarray((np.clip(weights, 0.0, heaviest) - middle) * heaviest / (heaviest - 2 * middle))


def _suggested_by(noisy: Floats, generator: np.random.Generator) -> list[NDArray[np.bool_]]:
    """Sweeps along the main directions, the two sides of each after vertices moved to where they have more edges, with
    a vertex or two moved back, and what random contractions leave.

    Weights enter as they are, negative ones too: noise around 0 then cancels in large cuts. Contractions alone need
    chances, for which negative weights are 0.
    """
    vertices, found = len(noisy), list[NDArray[np.bool_]]()
    centred = noisy - noisy.mean()
    # Here and not above: it takes long to load, and few pages need it.
    from scipy.linalg import eigh

    some = min(VECTORS // 2, vertices)
    _, directions = eigh(np.diag(noisy.sum(axis=1)) - noisy, subset_by_index=[0, some - 1])
    _, others = eigh(centred, subset_by_index=[vertices - some, vertices - 1])
    for vector in (*directions.T, *others.T):
        place = np.argsort(np.argsort(vector))
        found.extend(place < count for count in range(1, vertices))
        found.extend(_around(noisy, vector > np.median(vector)))
    found.extend(contracted(np.maximum(noisy, 0.0), generator) for _ in range(CONTRACTIONS))
    return found


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
    for moved in (*((vertex,) for vertex in doubtful), *combinations(doubtful[:DOUBTFUL], 2)):
        other = side.copy()
        other[list(moved)] ^= True
        yield other


def contracted(weights: Floats, generator: np.random.Generator) -> NDArray[np.bool_]:
    """The two sides that are left when vertices are joined along edges drawn by their weight (Karger 1993)."""
    held, owner = weights.copy(), np.arange(len(weights))
    np.fill_diagonal(held, 0.0)
    left, degrees = np.ones(len(weights), dtype=bool), held.sum(axis=1)
    for _ in range(len(weights) - 2):
        one = int(generator.choice(np.flatnonzero(left)) if degrees.sum() <= 0 else _drawn(degrees, generator))
        rest = np.where(left, held[one], 0.0)
        rest[one] = 0.0
        others = np.flatnonzero(left & (np.arange(len(left)) != one))
        two = int(generator.choice(others) if rest.sum() <= 0 else _drawn(rest, generator))
        degrees[one], degrees[two] = max(0.0, degrees[one] + degrees[two] - 2 * held[one, two]), 0.0
        held[one] += held[two]
        held[:, one] += held[:, two]
        held[one, one] = 0.0
        held[two], held[:, two], left[two] = 0.0, 0.0, False
        owner[owner == two] = one
    return np.asarray(owner == owner[0])


def _drawn(weights: Floats, generator: np.random.Generator) -> int:
    sums = np.cumsum(weights)
    return int(np.searchsorted(sums, generator.random() * sums[-1], side="right"))
