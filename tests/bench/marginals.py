"""Two-way marginals of a census table (48,842 x 14, 91 pairs) beside recorded figures of other systems.

The setting of the recorded figures: neighbours add or remove one row, delta 1e-9, errors as shares of all rows on n
synthetic rows: tvK is the mean total variation over K-way tables, maxK the largest error of a cell.
"""

from __future__ import annotations

import csv
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

import numpy as np

from core.domain import Categories, Domain, Integers
from core.encoded import histogram, occurring
from core.mechanisms.tree import Tree
from core.noise import Noise
from core.privacy import Budget, Unit
from core.queries.marginals import Marginals
from tests.bench.line import Line, peak_rss_mb

DATA = "RELEASE_DESK_BENCH_DATA"
"""Environment variable: the folder that holds adult.csv and adult-domain.json."""
ORDERED = {"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"}
RUNS, TRIPLES = 3, 60
PEERS: dict[float, dict[str, dict[str, float]]] = {
    0.1: {"SWIFT": {"tv2": 0.1293, "tv3": 0.2123, "max2": 0.0534, "cpu_s": 97, "rss_mb": 845}},
    1: {
        "SWIFT": {"tv2": 0.0400, "tv3": 0.0867, "max2": 0.0136, "cpu_s": 239, "rss_mb": 1380},
        "MST": {"tv2": 0.0516, "tv3": 0.1123, "max2": 0.0266, "cpu_s": 135, "rss_mb": 3558},
        "dpmm MST": {"tv2": 0.0594, "tv3": 0.1273, "max2": 0.0391, "cpu_s": 252, "rss_mb": 216},
        "dpmm AIM": {"tv2": 0.0682, "tv3": 0.1305, "max2": 0.0346, "cpu_s": 50, "rss_mb": 223},
    },
    10: {"SWIFT": {"tv2": 0.0192, "tv3": 0.0572, "max2": 0.0122, "cpu_s": 329, "rss_mb": 2026}},
}
"""Figures of peers by epsilon, each the best of several settings, measured once on a shared 2-core machine."""


@dataclass(frozen=True, eq=False)
class Rows:
    """A table of codes, one line per row."""

    domain: Domain
    codes: np.ndarray
    unit: Unit = field(default_factory=Unit)

    @property
    def public_rows(self) -> int | None:
        return len(self.codes) if self.unit.public_rows else None

    def marginal(self, columns: Sequence[str]) -> np.ndarray:
        return histogram(self._columns(columns), self.domain.shape(columns), len(self.codes))

    def points(self, columns: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        return occurring(self._columns(columns), self.domain.shape(columns), len(self.codes))

    def _columns(self, columns: Sequence[str]) -> list[np.ndarray]:
        return [self.codes[:, self.domain.names.index(name)] for name in columns]


def run() -> Iterator[Line]:
    folder = Path(os.environ.get(DATA, Path(__file__).resolve().parents[3] / "shared" / "data"))
    if not (folder / "adult.csv").exists():
        print(f"No adult.csv in {folder.name}; set {DATA} to the folder that holds it.", file=sys.stderr)
        return
    table = _adult(folder)
    for epsilon in PEERS:
        for delta, words in ((1e-9, f"adult eps={epsilon:g}"), (0, f"adult eps={epsilon:g} pure")):
            figures = _figures(table, Budget(epsilon, delta))
            for metric, ours in figures.items():
                theirs = {name: peer[metric] for name, peer in PEERS[epsilon].items() if metric in peer and delta}
                for name, figure in theirs.items():
                    yield Line("marginals", words, metric, ours, name, figure, "recorded")
                if not theirs:
                    yield Line("marginals", words, metric, ours)


def _adult(folder: Path) -> Rows:
    """The table; only columns whose codes have an order are declared as numbers."""
    sizes = json.loads((folder / "adult-domain.json").read_text())
    with (folder / "adult.csv").open() as file:
        header = next(csv.reader(file))
        codes = np.loadtxt(file, delimiter=",", dtype=np.int64)
    attributes = [
        Integers(name=name, low=0, high=sizes[name] - 1)
        if name in ORDERED
        else Categories(name=name, values=tuple(range(sizes[name])))
        for name in header
    ]
    return Rows(Domain(tuple(attributes)), codes)


def _figures(table: Rows, budget: Budget) -> dict[str, float]:
    """Means over several releases; three-way figures over a fixed random choice of triples."""
    every = list(combinations(table.domain.names, 3))
    places = np.random.default_rng(0).choice(len(every), TRIPLES, replace=False)
    sets = {2: list(combinations(table.domain.names, 2)), 3: [every[place] for place in places]}
    found: list[dict[str, float]] = []
    for _ in range(RUNS):
        start = time.process_time()
        model = Tree(queries=(Marginals(order=2),), budget=budget).run(table, Noise())
        drawn = Rows(table.domain, model.sample(len(table.codes), np.random.default_rng()))
        figures = {"cpu_s": time.process_time() - start, "rss_mb": peak_rss_mb()}
        for order, columns in sets.items():
            figures[f"tv{order}"], figures[f"max{order}"] = _errors(table, drawn, columns)
        figures["answers_tv2"], figures["answers_max2"] = _errors(table, model, sets[2])
        found.append(figures)
    return {metric: float(np.mean([each[metric] for each in found])) for metric in found[0]}


def _errors(table: Rows, released, sets: Sequence[tuple[str, ...]]) -> tuple[float, float]:
    """Mean total variation and largest error of a cell."""
    variations, largest = [], 0.0
    for columns in sets:
        truth, made = table.marginal(columns), released.marginal(columns)
        off = np.abs(truth / truth.sum() - made / made.sum())
        variations.append(off.sum() / 2)
        largest = max(largest, float(off.max()))
    return float(np.mean(variations)), largest
