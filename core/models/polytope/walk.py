"""A hit-and-run walk of many chains in the polytope of fractional histograms (T 4.4).

A step takes a direction, finds the chord on which a chain stays inside the body, and goes to a uniform place on it. No
direction depends on where the chain is, so the uniform distribution on the body stays as it is (Smith 1984; Bélisle,
Romeijn and Smith 1993). A chord in a general direction ends at the smallest of all cells and is tiny, so directions
have few cells. A sweep has three parts:

1. *Within atoms.* Cells that no slab tells apart form an atom; given its mass, the uniform distribution spreads it over
   its cells as normalised exponential numbers. That spread is redrawn exactly.
2. *Along the slabs.* The cells are dealt into blocks of two more than there are slabs. Each block has a direction that
   changes neither its mass nor the answer to any slab, so all blocks of all chains move at once.
3. *Across the slabs.* Mass passes between random pairs of cells, as far as the slabs allow; then all cells move
   together in directions that have the shape of the body around its centre, which helps small universes.

**Runtime** of a sweep O(chains x cells x slabs + cells x slabs^2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Floats
from core.models.polytope.centre import around, centre
from core.models.polytope.mixing import Mixing
from core.models.polytope.polytope import Polytope
from core.models.polytope.shape import BodyShape

PAIRS = 12
"""Steps of a sweep between pairs of cells."""
DENSE = 512
"""Cells that all dense steps of a sweep pass over in each chain, from 1 to 16 steps."""
LOOK = 8
"""Sweeps between two looks at the mixing."""
PROBES = 8
"""Random questions whose answers are watched beside those of the slabs."""


@dataclass(frozen=True, eq=False)
class Walked:
    """Where the chains are, one per line, and how well they mixed."""

    points: Floats
    mixing: Mixing


def spread(cells: int, chains: int, generator: np.random.Generator) -> Walked:
    """Independent uniform points of the whole simplex, exactly."""
    points = generator.exponential(size=(chains, cells))
    return Walked(points / points.sum(axis=1, keepdims=True), Mixing.perfect(chains))


def cut(body: Polytope, points: Floats, weights: Floats, low: float, high: float) -> tuple[Polytope, Floats]:
    """The body cut by one more slab, and the analytic centre of that part; `points` are inside the old body.

    If released answers contradict each other, or nearly so, because of their noise, the new slab is widened to meet the
    body.
    """
    inner = points.mean(axis=0)
    if not low < float(inner @ weights) < high:
        goal, missing = body.nearest(weights, (low + high) / 2)
        if missing >= 0.9 * (high - low) / 2:
            half, at = 1.5 * missing + 1e-6, (low + high) / 2
            low, high = at - half, at + half
        start, end = float(inner @ weights), float(goal @ weights)
        if not low < start < high:
            # Half of the way from where the line enters the slab to its end.
            entry = ((low if start < low else high) - start) / (end - start)
            inner = inner + (1 + entry) / 2 * (goal - inner)
    part = body.cut(weights, low, high)
    return part, centre(part, inner)


def walk(body: Polytope, middle: Floats, chains: int, generator: np.random.Generator, *, most: int = 128) -> Walked:
    """Walk from points around the centre until the answers look mixed, for at most `most` sweeps."""
    if not body.slabs:
        return spread(body.cells, chains, generator)
    here, steps = around(body, middle, chains, generator), Sweep.of(body, middle)
    probes = generator.integers(0, 2, (PROBES, body.cells)).astype(np.float64)
    watched = np.concatenate([body.weights, probes]).T
    seen: list[Floats] = []
    mixing = Mixing(rhat=math.inf, effective=0.0)
    while len(seen) < most and not mixing.good:
        for _ in range(LOOK):
            steps.run(here, generator)
            seen.append(here @ watched)
        # The first half may still remember the start.
        mixing = Mixing.of(np.stack(seen[len(seen) // 2 :]))
    here.setflags(write=False)
    return Walked(here, mixing)


@dataclass(frozen=True, eq=False)
class Sweep:
    """All steps of one round, for one body."""

    body: Polytope
    middle: Floats
    atoms: NDArray[np.int64]
    shape: BodyShape

    @classmethod
    def of(cls, body: Polytope, middle: Floats) -> Sweep:
        return cls(body, middle, body.atoms(), BodyShape.of(body, middle))

    def run(self, here: Floats, generator: np.random.Generator) -> None:
        """Move every chain, in place."""
        self.within(here, generator)
        self.along(here, generator)
        self.across(here, generator)
        self.anywhere(here, generator)

    def within(self, here: Floats, generator: np.random.Generator) -> None:
        """The spread of mass within every atom anew, in place."""
        atoms = self.atoms
        count = int(atoms.max()) + 1
        if count == atoms.size:
            return
        fresh = generator.exponential(size=here.shape)
        lines = np.arange(len(here))[:, None] * count + atoms
        mass, drawn = (np.bincount(lines.ravel(), table.ravel(), len(here) * count) for table in (here, fresh))
        here[:] = fresh * (mass / drawn)[lines]

    def along(self, here: Floats, generator: np.random.Generator) -> None:
        """A step of every block in a direction that no slab notices, in place."""
        body = self.body
        block = min(body.slabs + 2, body.cells)
        blocks = body.cells // block
        order = np.argsort(np.log(self.middle) + generator.normal(0, 0.5, body.cells))
        first = generator.integers(0, body.cells - blocks * block + 1)
        cells = order[first : first + blocks * block].reshape(blocks, block)
        lines = np.concatenate([np.ones((1, body.cells)), body.weights])[:, cells].transpose(1, 0, 2)
        directions = _unnoticed(lines)
        held = here[:, cells]
        with np.errstate(divide="ignore"):
            reach = held / np.abs(directions)
        up = np.where(directions < 0, reach, np.inf).min(axis=2)
        down = np.where(directions > 0, reach, np.inf).min(axis=2)
        moving = np.isfinite(up) & np.isfinite(down)
        step = np.where(moving, -down + generator.random(up.shape) * np.where(moving, up + down, 0.0), 0.0)
        here[:, cells] = np.maximum(held + step[:, :, None] * directions, 0.0)

    def across(self, here: Floats, generator: np.random.Generator) -> None:
        """Steps between pairs of cells, in place."""
        body = self.body
        chains, cells = here.shape
        every, by_cell, values = np.arange(chains)[:, None], body.weights.T, here @ body.weights.T
        firsts = generator.integers(0, cells, (PAIRS, chains))
        seconds = (firsts + generator.integers(1, cells, (PAIRS, chains))) % cells
        ways = np.tile([1.0, -1.0], (chains, 1))
        for first, second, place in zip(firsts, seconds, generator.random((PAIRS, chains)), strict=True):
            both = np.stack([first, second], axis=1)
            slopes = by_cell[first] - by_cell[second]
            down, up = _chords(here[every, both], values, ways, slopes, body)
            step = (down + place * (up - down))[:, None]
            here[every, both] = np.maximum(here[every, both] + step * ways, 0.0)
            values += slopes * step

    def anywhere(self, here: Floats, generator: np.random.Generator) -> None:
        """Steps in directions of all cells together, in place."""
        lines = self.body.weights.T
        for _ in range(int(np.clip(DENSE // self.body.cells, 1, 16))):
            directions = self.shape.directions(len(here), generator)
            down, up = _chords(here, here @ lines, directions, directions @ lines, self.body)
            step = down + generator.random(len(here)) * (up - down)
            np.maximum(here + step[:, None] * directions, 0.0, out=here)


def _unnoticed(lines: Floats) -> Floats:
    """For every block a direction on which all its lines vanish; none where there is no such direction."""
    directions = np.linalg.svd(lines)[2][:, -1, :]
    # Rounding leaves tiny numbers where a cell has no part; they would end every chord at once.
    directions = np.where(np.abs(directions) > 1e-9, directions, 0.0)
    missed = np.abs(np.einsum("blc,bc->bl", lines, directions)).max(axis=1)
    return np.asarray(np.where(missed[:, None] < 1e-9, directions, 0.0))


def _chords(here: Floats, values: Floats, directions: Floats, slopes: Floats, body: Polytope) -> tuple[Floats, Floats]:
    """How far each chain can go along its direction, backwards and forwards."""
    with np.errstate(divide="ignore", invalid="ignore"):
        cells = here / np.abs(directions)
        one, two = (body.low - values) / slopes, (body.high - values) / slopes
    level = slopes == 0
    down = np.where(level, -np.inf, np.minimum(one, two)).max(axis=1, initial=-np.inf)
    up = np.where(level, np.inf, np.maximum(one, two)).min(axis=1, initial=np.inf)
    down = np.maximum(down, -np.where(directions > 0, cells, np.inf).min(axis=1))
    up = np.minimum(up, np.where(directions < 0, cells, np.inf).min(axis=1))
    return np.minimum(down, 0.0), np.maximum(up, 0.0)
