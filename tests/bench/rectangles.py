"""Rectangles of two public 256 x 256 tables: 10,000 random rectangles, pure epsilon, beside simple peers.

Setting as for 'intervals': rows drawn from the table's shape, the number of rows public, noise for added or removed
rows, errors as shares of all rows. All peers run here, on the same draws. Other systems were measured once relative to
a plain 4 x 4 quad tree with equal shares and no negative counts (geometric mean over data, rows and epsilon), so the
last lines compare our figure relative to that tree, measured here, with theirs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from core.counts import Cells
from core.domain import Domain, Integers
from core.mechanisms.rectangle_search import RectangleSearch
from core.mechanisms.rectangle_tree import RectangleTree
from core.models.projection import simplex
from core.models.pyramid import gather, nonnegative, pyramid
from core.noise import Noise
from core.privacy import Budget, Unit, exact
from core.queries.rectangles import Rectangles
from tests.bench.intervals import found
from tests.bench.line import Line, cpu_seconds

FILES = {"adult": "Adult_2D_256_256.npy", "twitter": "twitter_256_256.npy"}
RUNS, SLOW_RUNS, RECTANGLES = 20, 2, 10_000
PLAIN = "plain 4x4 quad tree"
RELATIVE = {"DAWA-2D": (1.39, 2.36), "PrivTree": (1.47, 1.42), "adaptive grid": (1.55, 1.95), "HDMM": (3.9, 2.0)}
"""Mean and largest error where the plain quad tree has 1.19 in both."""
PLAIN_RELATIVE = 1.19

Table = NDArray[np.int64]
Floats = NDArray[np.float64]
Release = Callable[[Table, float], Floats]
"""Counts and epsilon to released counts."""


def run() -> Iterator[Line]:
    crowd = np.random.default_rng(0).poisson(2, (256, 256))
    yield Line("rectangles", "release 2^16", "ms", cpu_seconds(lambda: _tree(crowd, 1.0), repeats=7) * 1e3)
    folder = found(FILES["adult"])
    if folder is None:
        return
    relative = []
    for data, file in FILES.items():
        shape = np.load(folder / file).astype(float)
        for rows, epsilon in ((10_000, 0.1), (10_000, 1.0), (100_000, 0.1), (100_000, 1.0)):
            case = f"{data} 256x256 n={rows} eps={epsilon:g}"
            ours = _errors(shape, rows, epsilon, _tree, RUNS)
            for name, peer in PEERS.items():
                theirs = _errors(shape, rows, epsilon, peer, SLOW_RUNS if peer is _search else RUNS)
                for metric, mine, other in zip(("mean_error", "max_error"), ours, theirs, strict=True):
                    yield Line("rectangles", case, metric, mine, name, other)
                if name == PLAIN:
                    relative.append(ours / theirs)
            private = _errors(shape, rows, epsilon, _tree_of_private_rows, RUNS)
            yield Line("rectangles", f"{case} private rows", "mean_error", private[0])
    for axis, metric in enumerate(("mean_error", "max_error")):
        mine = float(np.exp(np.log(relative).mean(axis=0))[axis])
        yield Line("rectangles", "all", f"{metric}_to_plain_tree", mine, PLAIN, 1)
        for name, figures in RELATIVE.items():
            recorded = figures[axis] / PLAIN_RELATIVE
            yield Line("rectangles", "all", f"{metric}_to_plain_tree", mine, name, recorded, "recorded")


def _errors(shape: Floats, rows: int, epsilon: float, release: Release, runs: int) -> Floats:
    """The mean over runs of the mean and of the largest error of random rectangles."""
    generator = np.random.default_rng(0)
    each = []
    for _ in range(runs):
        truth = generator.multinomial(rows, (shape / shape.sum()).ravel()).reshape(shape.shape)
        off = np.pad((release(truth, epsilon) - truth) / rows, ((1, 0), (1, 0))).cumsum(axis=0).cumsum(axis=1)
        (top, bottom), (left, right) = (
            np.sort(generator.integers(0, size, (2, RECTANGLES)), axis=0) for size in shape.shape
        )
        bottom, right = bottom + 1, right + 1
        error = np.abs(off[bottom, right] - off[top, right] - off[bottom, left] + off[top, left])
        each.append((error.mean(), error.max()))
    found_errors: Floats = np.mean(each, axis=0)
    return found_errors


def _counts(truth: Table, unit: Unit) -> Cells:
    sides = zip("xy", truth.shape, strict=True)
    return Cells(Domain(tuple(Integers(name=name, low=0, high=size - 1) for name, size in sides)), truth, unit)


def _tree(truth: Table, epsilon: float) -> Floats:
    """Replacing a row moves counts by two, so twice the epsilon draws the noise of adding or removing one."""
    tree = RectangleTree(queries=(Rectangles(columns=("x", "y")),), budget=Budget(2 * epsilon))
    return tree.run(_counts(truth, Unit.row("replace")), Noise()).marginal(("x", "y"))


def _tree_of_private_rows(truth: Table, epsilon: float) -> Floats:
    tree = RectangleTree(queries=(Rectangles(columns=("x", "y")),), budget=Budget(epsilon))
    return tree.run(_counts(truth, Unit.row()), Noise()).marginal(("x", "y"))


def _search(truth: Table, epsilon: float) -> Floats:
    search = RectangleSearch(queries=(Rectangles(columns=("x", "y")),), budget=Budget(2 * epsilon))
    return search.run(_counts(truth, Unit.row("replace")), Noise()).marginal(("x", "y"))


def _noisy(counts: Table, epsilon: float) -> Table:
    return Noise().laplace(counts, epsilon=exact(epsilon, "epsilon"), sensitivity=1)


def _plain_tree(truth: Table, epsilon: float) -> Floats:
    blocks = pyramid(truth.shape, 4)
    noisy = [_noisy(level, epsilon / blocks.levels) for level in blocks.sums(truth)]
    return nonnegative(gather(blocks, noisy, [1.0] * blocks.levels), float(truth.sum()))


def _identity(truth: Table, epsilon: float) -> Floats:
    return simplex(_noisy(truth, epsilon).astype(float), float(truth.sum()))


def _uniform_grid(truth: Table, epsilon: float) -> Floats:
    """A grid of sqrt(n epsilon/10) parts along each side, each count spread evenly (Qardaji, Yang and Li 2013)."""
    parts = int(np.clip(math.sqrt(truth.sum() * epsilon / 10), 10, len(truth)))
    starts = np.arange(parts) * len(truth) // parts
    widths = np.diff(starts, append=len(truth))
    sums = np.add.reduceat(np.add.reduceat(truth, starts, axis=0), starts, axis=1)
    density = _noisy(sums, epsilon) / np.outer(widths, widths)
    return np.repeat(np.repeat(density, widths, axis=0), widths, axis=1)


PEERS: dict[str, Release] = {
    PLAIN: _plain_tree,
    "identity + simplex": _identity,
    "uniform grid": _uniform_grid,
    "rectangle-search": _search,
}
