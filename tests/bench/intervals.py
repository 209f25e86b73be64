"""Ranges of four public 1-D histograms beside recorded figures of other systems: 10,000 random ranges, pure epsilon.

The setting of the recorded figures: rows drawn from the histogram's shape, grouped to the domain; neighbours add or
remove one row while the number of rows is public; errors are shares of all rows, means of several runs.
"""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from core.counts import Cells
from core.domain import Domain, Integers
from core.mechanisms.interval_tree import IntervalTree
from core.noise import Noise
from core.privacy import Budget
from core.queries.intervals import Intervals
from tests.bench.line import Line, cpu_seconds

DATA = "RELEASE_DESK_BENCH_DATA"
"""Environment variable: the folder that holds dpbench/*.npy and dpbench/peers-1d.csv."""
PEERS = ("HDMM + isotonic", "b-ary tree + isotonic", "DAWA")
RUNS, RANGES = 5, 10_000


@dataclass(frozen=True)
class KnownRows(Cells):
    """Counts whose number of rows is public although neighbours add or remove one."""

    @property
    def public_rows(self) -> int:
        return int(self.cells.sum())


def run() -> Iterator[Line]:
    yield _speed()
    folder = _folder()
    if not (folder / "peers-1d.csv").exists():
        print(f"No histograms in {folder.name}; set {DATA} to the folder that holds dpbench.", file=sys.stderr)
        return
    with (folder / "peers-1d.csv").open() as file:
        recorded = list(csv.DictReader(file))
    cases: dict[tuple[int, str, int, float], dict[str, float]] = {}
    for line in recorded:
        if line["method"] in PEERS:
            case = (int(line["domain"]), line["data"], int(line["n"]), float(line["epsilon"]))
            cases.setdefault(case, {})[line["method"]] = float(line["mean_error"])
    ratios: dict[int, list[float]] = {}
    for (domain, data, rows, epsilon), theirs in sorted(cases.items()):
        histogram = np.load(folder / f"{data}.n4096.npy").astype(float).reshape(domain, -1).sum(axis=1)
        ours = _mean_error(histogram / histogram.sum(), rows, epsilon)
        best = min(theirs, key=lambda method: theirs[method])
        ratios.setdefault(domain, []).append(ours / theirs[best])
        words = f"{data.lower()} 2^{domain.bit_length() - 1} n={rows} eps={epsilon:g}"
        yield Line("intervals", words, "mean_error", ours, best, theirs[best], theirs_from="recorded")
    for domain, found in ratios.items():
        mean = float(np.exp(np.log(found).mean()))
        yield Line("intervals", f"all 2^{domain.bit_length() - 1}", "mean_error_ratio", mean, "best", 1.0, "recorded")


def _folder() -> Path:
    """The given folder, or one beside the repository."""
    beside = Path(__file__).resolve().parents[3] / "shared" / "data"
    return Path(os.environ.get(DATA, beside)) / "dpbench"


def _column(size: int) -> Domain:
    return Domain((Integers(name="x", low=0, high=size - 1),))


def _mean_error(shape: np.ndarray, rows: int, epsilon: float) -> float:
    generator = np.random.default_rng(0)
    tree = IntervalTree(queries=(Intervals(column="x"),), budget=Budget(epsilon))
    errors = []
    for _ in range(RUNS):
        truth = generator.multinomial(rows, shape)
        model = tree.run(KnownRows(_column(shape.size), truth), Noise())
        off = np.concatenate([[0.0], np.cumsum(model.marginal(("x",)) - truth)]) / rows
        first, last = np.sort(generator.integers(0, shape.size, (2, RANGES)), axis=0)
        errors.append(np.abs(off[last + 1] - off[first]).mean())
    return float(np.mean(errors))


def _speed() -> Line:
    """A whole release at 2^16 cells beside the recorded time of the tree alone in plain numpy."""
    counts = KnownRows(_column(2**16), np.random.default_rng(0).poisson(2, 2**16))
    tree = IntervalTree(queries=(Intervals(column="x"),), budget=Budget(1))
    seconds = cpu_seconds(lambda: tree.run(counts, Noise()))
    return Line("intervals", "release 2^16", "ms", seconds * 1e3, "opendp consistent tree b=16", 1_500, "recorded")
