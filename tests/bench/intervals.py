"""Ranges of four public 1-D histograms beside other systems: 10,000 random ranges, pure epsilon.

The setting of the recorded figures: rows drawn from the histogram's shape, grouped to the domain; neighbours add or
remove one row while the number of rows is public; errors are shares of all rows. Replacing a row moves the counts of a
level by two, so twice the epsilon for replaced rows draws the very same noise and has a public number of rows: that is
how the tree runs here. Lines of 'private rows' are the same with epsilon for added or removed rows, and nothing else
known: there errors are those of the shares of rows that a release answers with, its counts over its own total. They
are set beside the same peers, which know the number of rows.

Then columns most of whose cells are empty or alike (`kit/range_columns.py`), of up to 2^20 cells, beside published ways
that run here (`kit/range_peers.py`) and know what the tree knows, on the same draws: with public and with private rows.

The mean error of one run varies by a third to a half of itself, because few noisy counts decide long ranges; recorded
figures are means of 5 runs (2 for DAWA), so a single ratio is certain to about 20 % only.
"""

from __future__ import annotations

import csv
import importlib.util
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.mechanisms.ranges.interval_tree import IntervalTree
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.intervals import Intervals
from core.schema.domain import Domain, Integers
from core.table.counts import Cells
from tests.bench.kit.line import Line, cpu_seconds
from tests.bench.kit.range_columns import FRESH, HELD_OUT, TUNED, UNSEEN, made
from tests.bench.kit.range_peers import PEERS as PEERS_HERE
from tests.bench.kit.real_data import DATA, data_folder
from tests.kernels import run as release_of

OPENDP = "opendp consistent tree b=16"
PEERS = ("HDMM + isotonic", "b-ary tree + isotonic", "DAWA", OPENDP)
RUNS, OPENDP_RUNS, SPARSE_RUNS, RANGES = 80, 2, 10, 10_000

Table = NDArray[np.int64]
Release = Callable[[Table, float], NDArray[np.float64]]
"""Counts and epsilon to released counts."""


@dataclass(frozen=True)
class Case:
    domain: int
    data: str
    rows: int
    epsilon: float

    def __str__(self) -> str:
        return f"{self.data.lower()} 2^{self.domain.bit_length() - 1} n={self.rows} eps={self.epsilon:g}"


def run() -> Iterator[Line]:
    yield from sparse()
    seconds = speed()
    yield Line("intervals", "release 2^16", "ms", seconds * 1e3, OPENDP, 1_500, "recorded")
    folder = found("peers-1d.csv")
    if folder is None:
        return
    ratios: dict[int, list[float]] = {}
    for case, peers in sorted(_recorded(folder).items(), key=lambda item: str(item[0])):
        histogram = np.load(folder / f"{case.data}.n4096.npy").astype(float).reshape(case.domain, -1).sum(axis=1)
        shape = histogram / histogram.sum()
        mean, largest = errors(shape, case, partial(_tree, public=True), RUNS)
        best = min(peers, key=lambda method: peers[method][0])
        ratios.setdefault(case.domain, []).append(mean / peers[best][0])
        yield Line("intervals", str(case), "mean_error", mean, best, peers[best][0], "recorded")
        yield Line("intervals", str(case), "max_error", largest, best, peers[best][1], "recorded")
        if importlib.util.find_spec("opendp") is not None:
            theirs, _ = errors(shape, case, _opendp, OPENDP_RUNS)
            yield Line("intervals", str(case), "mean_error", mean, OPENDP, theirs)
        private, _ = errors(shape, case, partial(_tree, public=False), RUNS)
        yield Line("intervals", f"{case} private rows", "mean_error", private, best, peers[best][0], "recorded")
    for domain, each in sorted(ratios.items()):
        words = f"all 2^{domain.bit_length() - 1}"
        yield Line("intervals", words, "mean_error_ratio", float(np.exp(np.log(each).mean())), "best", 1, "recorded")
        yield Line("intervals", words, "largest_mean_error_ratio", max(each), "best", 1, "recorded")


def sparse() -> Iterator[Line]:
    """Generated columns and the public histograms beside peers that run here; geometric means by size and kind."""
    ratios: dict[str, list[float]] = {}
    for words, shape in _shapes():
        for rows, epsilon, public in ((10_000, 0.1, True), (10_000, 1.0, False), (100_000, 1.0, True)):
            runs = SPARSE_RUNS if shape.size < 2**20 else 2
            ours, theirs = _beside(shape, rows, epsilon, public, runs)
            best = min(theirs, key=lambda name: theirs[name])
            case = f"{words} n={rows} eps={epsilon:g} {'public' if public else 'private'} rows"
            yield Line("intervals", case, "mean_error", ours, best, theirs[best])
            ratios.setdefault(words.partition(":")[0], []).append(ours / theirs[best])
    for group, each in ratios.items():
        yield Line("intervals", f"all {group}", "mean_error_ratio", float(np.exp(np.log(each).mean())), "best", 1)
        yield Line("intervals", f"all {group}", "largest_mean_error_ratio", max(each), "best", 1)


def _shapes() -> Iterator[tuple[str, NDArray[np.float64]]]:
    for group, kinds in (("tuned", TUNED), ("held out", HELD_OUT), ("unseen", UNSEEN), ("fresh", FRESH)):
        for power in (12, 16, 20):
            for seed, (name, kind) in enumerate(kinds.items()):
                yield f"{group}: {name} 2^{power}", made(kind, 2**power, seed)
    folder = found("peers-1d.csv")
    for file in sorted(folder.glob("*.n4096.npy")) if folder else ():
        histogram = np.load(file).astype(float)
        yield f"dpbench: {file.name.partition('.')[0].lower()} 2^12", histogram / histogram.sum()


def _beside(
    shape: NDArray[np.float64], rows: int, epsilon: float, public: bool, runs: int
) -> tuple[float, dict[str, float]]:
    """Mean errors of the tree and of each peer, on the same rows and ranges."""
    generator = np.random.default_rng(0)
    ours, theirs = [], {name: [] for name in PEERS_HERE}
    for _ in range(runs):
        truth = generator.multinomial(rows, shape)
        ranges = np.sort(generator.integers(0, shape.size, (2, RANGES)), axis=0)
        ours.append(_range_error(_tree(truth, epsilon, public), truth, ranges))
        for name, peer in PEERS_HERE.items():
            theirs[name].append(_range_error(peer(truth, epsilon, public, generator), truth, ranges))
    return float(np.mean(ours)), {name: float(np.mean(each)) for name, each in theirs.items()}


def _range_error(released: NDArray[np.float64], truth: Table, ranges: NDArray[np.int64]) -> float:
    whole = released.sum()
    shares = released / whole if whole > 0 else released
    off = np.concatenate([[0.0], np.cumsum(shares - truth / truth.sum())])
    first, last = ranges
    return float(np.abs(off[last + 1] - off[first]).mean())


def found(name: str) -> Path | None:
    """The folder dpbench in the given data folder, or in one beside the repository; a sentence and None if absent."""
    folder = data_folder() / "dpbench"
    if (folder / name).exists():
        return folder
    print(
        f"The public histograms are not here, so accuracy is not measured; set {DATA} to the folder that holds "
        f"dpbench/{name}.",
        file=sys.stderr,
    )
    return None


def errors(shape: NDArray[np.float64], case: Case, release: Release, runs: int) -> tuple[float, float]:
    """The mean over runs of the mean and of the largest error of random ranges."""
    generator = np.random.default_rng(0)
    each = []
    for _ in range(runs):
        truth = generator.multinomial(case.rows, shape)
        off = np.concatenate([[0.0], np.cumsum(release(truth, case.epsilon) - truth)]) / case.rows
        first, last = np.sort(generator.integers(0, shape.size, (2, RANGES)), axis=0)
        error = np.abs(off[last + 1] - off[first])
        each.append((error.mean(), error.max()))
    mean, largest = np.mean(each, axis=0)
    return float(mean), float(largest)


def speed() -> float:
    """CPU seconds of a whole release at 2^16 cells."""
    truth = np.random.default_rng(0).poisson(2, 2**16)
    return cpu_seconds(lambda: _tree(truth, 1.0, public=True), repeats=7)


def _recorded(folder: Path) -> dict[Case, dict[str, tuple[float, float]]]:
    """Mean and largest error of each peer in each case."""
    cases: dict[Case, dict[str, tuple[float, float]]] = {}
    with (folder / "peers-1d.csv").open() as file:
        for line in csv.DictReader(file):
            if line["method"] in PEERS:
                case = Case(int(line["domain"]), line["data"], int(line["n"]), float(line["epsilon"]))
                cases.setdefault(case, {})[line["method"]] = float(line["mean_error"]), float(line["max_error"])
    return cases


def _tree(truth: Table, epsilon: float, public: bool) -> NDArray[np.float64]:
    domain = Domain((Integers(name="x", low=0, high=truth.size - 1),))
    unit = Unit.row("replace") if public else Unit.row()
    budget = Budget(2 * epsilon if public else epsilon)
    tree = IntervalTree(queries=(Intervals(column="x"),), budget=budget)
    model = release_of(tree, Cells(domain, truth, unit))
    return model.marginal(("x",)) * (truth.sum() / model.total if model.total > 0 else 1.0)


def _opendp(truth: Table, epsilon: float) -> NDArray[np.float64]:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    tree = space >> dp.t.then_b_ary_tree(leaf_count=truth.size, branching_factor=16)
    noisy = tree >> dp.m.then_laplace(scale=tree.map(1) / epsilon)
    return np.array(dp.t.make_consistent_b_ary_tree(branching_factor=16)(noisy(truth.tolist())))[: truth.size]
