"""Rectangles of two public 256 x 256 tables: 10,000 random rectangles, pure epsilon, beside simple peers.

Setting as for 'intervals': rows drawn from the table's shape, the number of rows public, noise for added or removed
rows, errors as shares of all rows. All peers that run here are our own implementations of published algorithms, on the
same draws. Other systems were measured once relative to a plain 4 x 4 quad tree with equal shares and no
negative counts (geometric mean over data, rows and epsilon), so the last lines compare our figure relative to that
tree, measured here, with theirs: first peers that run here, then the recorded figures.

Before them, 'rectangle-tree' as a desk runs it for a budget with a delta (pure noise is the smaller one here), beside
the best of a plain tree, PrivTree and `tree` of the same budget, with Gaussian noise and as a desk runs it: on both
public tables and on generated ones (`kit/rectangle_tables.py`), with public and with private rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from core.mechanisms.ranges.rectangle_search import RectangleSearch
from core.mechanisms.ranges.rectangle_tree import RectangleTree
from core.mechanisms.tree.tree import Tree
from core.models.fitting.pyramid import gather, nonnegative, pyramid
from core.models.fitting.simplex import simplex
from core.planning.better_noise import build
from core.privacy.budget import Budget, exact
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.queries.rectangles import Rectangles
from core.schema.domain import Domain, Integers
from core.table.counts import Cells
from tests.bench.intervals import found
from tests.bench.kit.line import Line, cpu_seconds
from tests.bench.kit.rectangle_tables import FRESH, SPARSE, TUNED, UNSEEN, made
from tests.blocks import block_sums
from tests.kernels import run as release_of

FILES = {"adult": "Adult_2D_256_256.npy", "twitter": "twitter_256_256.npy"}
RUNS, SLOW_RUNS, DELTA_RUNS, RECTANGLES = 20, 2, 8, 10_000
DELTA = 1e-9
SETTINGS = ((10_000, 0.1, True), (10_000, 1.0, False), (100_000, 0.1, False), (100_000, 1.0, True))
PLAIN = "plain 4x4 quad tree"
RELATIVE = {
    "DAWA-2D": (1.39, 2.36),
    "PrivTree": (1.47, 1.42),
    "adaptive grid": (1.55, 1.95),
    "uniform grid": (3.8, 8.6),
    "HDMM": (3.9, 2.0),
    "identity": (7.4, 4.0),
    "wavelet": (15.6, 8.7),
}
"""Mean and largest error where the plain quad tree has 1.19 in both."""
PLAIN_RELATIVE = 1.19

Table = NDArray[np.int64]
Floats = NDArray[np.float64]
Release = Callable[[Table, float], Floats]
"""Counts and epsilon to released counts."""


def run() -> Iterator[Line]:
    crowd = np.random.default_rng(0).poisson(2, (256, 256))
    yield Line("rectangles", "release 2^16", "ms", cpu_seconds(lambda: _tree(crowd, 1.0), repeats=7) * 1e3)
    yield from with_delta()
    folder = found(FILES["adult"])
    if folder is None:
        return
    relative = []
    peers: dict[str, list[Floats]] = {}
    for data, file in FILES.items():
        shape = np.load(folder / file).astype(float)
        for rows, epsilon in ((10_000, 0.1), (10_000, 1.0), (100_000, 0.1), (100_000, 1.0)):
            case = f"{data} 256x256 n={rows} eps={epsilon:g}"
            ours = _errors(shape, rows, epsilon, _tree, RUNS)
            for name, peer in PEERS.items():
                theirs = _errors(shape, rows, epsilon, peer, SLOW_RUNS if peer is _search else RUNS)
                peers.setdefault(name, []).append(theirs)
                for metric, mine, other in zip(("mean_error", "max_error"), ours, theirs, strict=True):
                    yield Line("rectangles", case, metric, mine, name, other)
                if name == PLAIN:
                    relative.append(ours / theirs)
            private = _errors(shape, rows, epsilon, _tree_of_private_rows, RUNS)
            yield Line("rectangles", f"{case} private rows", "mean_error", private[0])
    for axis, metric in enumerate(("mean_error", "max_error")):
        mine = float(np.exp(np.log(relative).mean(axis=0))[axis])
        for name, figures in peers.items():
            theirs = float(np.exp(np.log(np.divide(figures, peers[PLAIN])).mean(axis=0))[axis])
            yield Line("rectangles", "all", f"{metric}_to_plain_tree", mine, name, theirs)
        for name, pair in RELATIVE.items():
            recorded = pair[axis] / PLAIN_RELATIVE
            yield Line("rectangles", "all", f"{metric}_to_plain_tree", mine, name, recorded, "recorded")


def with_delta() -> Iterator[Line]:
    """Public and generated tables beside the best of what a budget with a delta allows; geometric means by group."""
    ratios: dict[str, list[float]] = {}
    for group, name, shape in _tables():
        for rows, epsilon, public in SETTINGS:
            unit = Unit.row("replace") if public else Unit.row()
            ours = _errors(shape, rows, epsilon, partial(_planned, "rectangle-tree", unit), DELTA_RUNS)[0].item()
            peers = {
                PLAIN: _plain_tree,
                "PrivTree": _private_tree,
                "tree, Gaussian": partial(_gaussian_tree, unit),
                "tree": partial(_planned, "tree", unit),
            }
            theirs = {
                peer: _errors(shape, rows, epsilon, release, DELTA_RUNS)[0].item() for peer, release in peers.items()
            }
            case = f"{group}: {name} n={rows} eps={epsilon:g} delta={DELTA:g} {'public' if public else 'private'} rows"
            for peer, figure in theirs.items():
                yield Line("rectangles", case, "mean_error", ours, peer, figure)
            ratios.setdefault(group, []).append(ours / min(theirs.values()))
    for group, each in ratios.items():
        yield Line("rectangles", f"all {group}", "mean_error_ratio", float(np.exp(np.log(each).mean())), "best", 1)
        yield Line("rectangles", f"all {group}", "largest_mean_error_ratio", max(each), "best", 1)


def _tables() -> Iterator[tuple[str, str, Floats]]:
    folder = found(FILES["adult"])
    if folder is not None:
        for name, file in FILES.items():
            yield "public", name, np.load(folder / file).astype(float)
    for group, kinds in (("tuned", TUNED), ("fresh", FRESH), ("sparse", SPARSE), ("unseen", UNSEEN)):
        for seed, (name, kind) in enumerate(kinds.items()):
            yield group, name, made(kind, 256, seed)


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
    return release_of(tree, _counts(truth, Unit.row("replace"))).marginal(("x", "y"))


def _tree_of_private_rows(truth: Table, epsilon: float) -> Floats:
    tree = RectangleTree(queries=(Rectangles(columns=("x", "y")),), budget=Budget(epsilon))
    return release_of(tree, _counts(truth, Unit.row())).marginal(("x", "y"))


def _planned(name: str, unit: Unit, truth: Table, epsilon: float) -> Floats:
    """A mechanism with the noise that a desk chooses for a budget with a delta."""
    counts = _counts(truth, unit)
    budget = Budget(2 * epsilon if unit.public_rows else epsilon, DELTA)
    mechanism = build(name, (Rectangles(columns=("x", "y")),), budget, {}, counts.domain, unit)
    return _of_all_rows(release_of(mechanism, counts).marginal(("x", "y")), truth)


def _gaussian_tree(unit: Unit, truth: Table, epsilon: float) -> Floats:
    budget = Budget(2 * epsilon if unit.public_rows else epsilon, DELTA)
    tree = Tree(queries=(Rectangles(columns=("x", "y")),), budget=budget)
    return _of_all_rows(release_of(tree, _counts(truth, unit)).marginal(("x", "y")), truth)


def _of_all_rows(released: Floats, truth: Table) -> Floats:
    """Answers are shares of a release's own rows."""
    return released * (truth.sum() / released.sum()) if released.sum() > 0 else released


def _search(truth: Table, epsilon: float) -> Floats:
    search = RectangleSearch(queries=(Rectangles(columns=("x", "y")),), budget=Budget(2 * epsilon))
    return release_of(search, _counts(truth, Unit.row("replace"))).marginal(("x", "y"))


def _plain_tree(truth: Table, epsilon: float) -> Floats:
    blocks = pyramid(truth.shape, 4)
    found = [_noisy(level, epsilon / blocks.levels) for level in block_sums(blocks, truth)]
    return nonnegative(gather(blocks, found, [1.0] * blocks.levels), float(truth.sum()))


def _identity(truth: Table, epsilon: float) -> Floats:
    return simplex(_noisy(truth, epsilon).astype(float), float(truth.sum()))


def _plain_cells(truth: Table, epsilon: float) -> Floats:
    return _noisy(truth, epsilon).astype(float)


def _noisy(counts: Table, epsilon: float) -> Table:
    return Noise().laplace(counts, epsilon=exact(epsilon, "epsilon"), sensitivity=1)


def _uniform_grid(truth: Table, epsilon: float) -> Floats:
    """A grid of sqrt(n epsilon/10) parts along each side, each count spread evenly (Qardaji, Yang and Li 2013)."""
    starts = _starts(len(truth), math.sqrt(truth.sum() * epsilon / 10))
    return _spread(_noisy(_summed(truth, starts), epsilon).astype(float), starts, len(truth))


def _adaptive_grid(truth: Table, epsilon: float) -> Floats:
    """A coarse grid, and in each block a finer one that suits its noisy count (Qardaji, Yang and Li 2013).

    Half of epsilon for each level; max(10, sqrt(n epsilon/10)/4) parts along each side at first, then
    sqrt(count epsilon/2/5) in each block; the two levels are averaged by inverse variance.
    """
    half = epsilon / 2
    coarse = _starts(len(truth), max(10.0, math.sqrt(truth.sum() * epsilon / 10) / 4))
    first = _noisy(_summed(truth, coarse), half)
    ends = np.append(coarse, len(truth))
    found = np.empty(truth.shape)
    for place, count in np.ndenumerate(first):
        block = tuple(slice(ends[axis], ends[axis + 1]) for axis in place)
        inner = truth[block]
        parts = math.ceil(math.sqrt(max(float(count), 0.0) * half / 5))
        lines, others = (_starts(size, max(1, parts)) for size in inner.shape)
        fine = _noisy(_summed(inner, lines, others), half).astype(float)
        agreed = (fine.size * count + fine.sum()) / (fine.size + 1)
        fine += (agreed - fine.sum()) / fine.size
        found[block] = _spread(fine, lines, inner.shape[0], others, inner.shape[1])
    return found


def _private_tree(truth: Table, epsilon: float) -> Floats:
    """PrivTree (Zhang, Xiao and Xie 2016): split a square into four while its noisy biased count is above 0.

    Half of epsilon decides on splits, with scale (2 b - 1)/(b - 1)/epsilon for b = 4 and a bias of ln b times the
    scale per level; half counts the leaves, spread evenly. Float noise: this reference is never released.
    """
    generator = np.random.default_rng()
    scale = 7 / 3 / (epsilon / 2)
    bias = scale * math.log(4)
    found = np.empty(truth.shape)
    waiting = [(0, 0, len(truth), 0)]
    while waiting:
        top, left, side, depth = waiting.pop()
        block = (slice(top, top + side), slice(left, left + side))
        count = int(truth[block].sum())
        if side > 1 and max(count - depth * bias, -bias) + generator.laplace(0, scale) > 0:
            half = side // 2
            waiting += [(top + down, left + right, half, depth + 1) for down in (0, half) for right in (0, half)]
        else:
            found[block] = (count + generator.laplace(0, 2 / epsilon)) / side**2
    return found


def _wavelet(truth: Table, epsilon: float) -> Floats:
    """Privelet (Xiao, Wang and Gehrke 2010): noise in Haar coefficients, in each the less the more cells it spans.

    Along one side of 2^k cells a coefficient over 2^j cells, half of the difference of the means of its halves, has the
    weight 2^j, and a row moves the weighted coefficients by 1 + k in all; weights and sums multiply over two sides.
    """
    analysis, weights = _haar(len(truth))
    sensitivity = (1 + math.log2(len(truth))) ** 2
    noise = np.random.default_rng().laplace(0, sensitivity / epsilon, truth.shape) / np.outer(weights, weights)
    synthesis = np.linalg.inv(analysis)
    return synthesis @ (analysis @ truth @ analysis.T + noise) @ synthesis.T


def _haar(size: int) -> tuple[Floats, Floats]:
    """Mean and differences of 2^k cells, one per line, and the weight of each."""
    lines, weights, span = [np.full(size, 1 / size)], [float(size)], size
    while span > 1:
        for start in range(0, size, span):
            line = np.zeros(size)
            line[start : start + span // 2], line[start + span // 2 : start + span] = 1 / span, -1 / span
            lines.append(line)
            weights.append(float(span))
        span //= 2
    return np.array(lines), np.array(weights)


def _starts(size: int, parts: float) -> Table:
    number = int(np.clip(parts, 1, size))
    return np.arange(number) * size // number


def _summed(table: Table, lines: Table, columns: Table | None = None) -> Table:
    return np.add.reduceat(np.add.reduceat(table, lines, axis=0), lines if columns is None else columns, axis=1)


def _spread(counts: Floats, lines: Table, high: int, columns: Table | None = None, wide: int | None = None) -> Floats:
    """Each count spread evenly over the cells of its block."""
    down = np.diff(lines, append=high)
    right = down if columns is None or wide is None else np.diff(columns, append=wide)
    return np.repeat(np.repeat(counts / np.outer(down, right), down, axis=0), right, axis=1)


PEERS: dict[str, Release] = {
    PLAIN: _plain_tree,
    "PrivTree": _private_tree,
    "adaptive grid": _adaptive_grid,
    "uniform grid": _uniform_grid,
    "identity": _plain_cells,
    "identity + simplex": _identity,
    "wavelet": _wavelet,
    "rectangle-search": _search,
}
