"""Two-way marginals of a census table (48,842 x 14, 91 pairs) beside other systems, run here or recorded.

The census table reduced to seven columns and generated tables (`kit/marginal_tables.py`) follow, without peers.

The setting of the recorded figures: neighbours add or remove one row, delta 1e-9, errors as shares of all rows on n
synthetic rows: tvK is the mean total variation over K-way tables, maxK the largest error of a cell. dpmm runs
here where an interpreter that has it is named (`kit/dpmm_peer.py`), once per model, and is scored by the same code.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from core.mechanisms.tree.tree import Tree
from core.privacy.budget import Budget
from core.queries.marginals import Marginals
from core.schema.domain import Domain
from core.table.stand_in import StandIn
from tests.bench.kit import dpmm_peer
from tests.bench.kit.line import Line, peak_mb
from tests.bench.kit.marginal_tables import HELD_OUT, TUNED, few_columns
from tests.bench.kit.real_data import adult, adult_folder
from tests.kernels import run as release_of

RUNS, TRIPLES, DELTA = 5, 60, 1e-9
LIVE = 1
"""The epsilon at which dpmm is run: its two models take minutes."""
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


def run() -> Iterator[Line]:
    yield from _census()
    for name, made in {**TUNED, **HELD_OUT}.items():
        yield from _alone(name, made())


def _alone(name: str, table: StandIn) -> Iterator[Line]:
    for epsilon in PEERS:
        for metric, ours in _figures(table, Budget(epsilon, DELTA)).items():
            yield Line("marginals", f"{name} eps={epsilon:g}", metric, ours)


def _census() -> Iterator[Line]:
    folder = adult_folder()
    if folder is None:
        return
    table = adult(folder)
    for epsilon in PEERS:
        for delta, words in ((DELTA, f"adult eps={epsilon:g}"), (0, f"adult eps={epsilon:g} pure")):
            figures = _figures(table, Budget(epsilon, delta))
            peers = PEERS[epsilon] if delta else {}
            live = _live(table, epsilon, delta) if delta and epsilon == LIVE else {}
            for metric, ours in figures.items():
                theirs = {name: (peer[metric], "recorded") for name, peer in peers.items() if metric in peer}
                theirs |= {name: (peer[metric], "run") for name, peer in live.items() if metric in peer}
                for name, (figure, origin) in theirs.items():
                    yield Line("marginals", words, metric, ours, name, figure, origin)
                if not theirs:
                    yield Line("marginals", words, metric, ours)
    yield from _alone("adult-7", few_columns(table))


def _live(table: StandIn, epsilon: float, delta: float) -> dict[str, dict[str, float]]:
    """Figures of dpmm, run now; none without an interpreter that has it."""
    python = dpmm_peer.interpreter()
    if python is None:
        return {}
    sizes = dict(zip(table.domain.names, table.domain.shape(), strict=True))
    found = {}
    for peer in dpmm_peer.MODELS:
        drawn, spent = dpmm_peer.synthetic(python, peer, table.codes, sizes, epsilon, delta)
        found[peer] = spent | _scores(table, StandIn(table.domain, drawn, table.unit))
    return found


def _figures(table: StandIn, budget: Budget) -> dict[str, float]:
    """Means over several releases."""
    found: list[dict[str, float]] = []
    for _ in range(RUNS):
        start = time.process_time()
        model = release_of(Tree(queries=(Marginals(order=2),), budget=budget), table)
        drawn = StandIn(table.domain, model.sample(len(table.codes), np.random.default_rng()), table.unit)
        figures = {"cpu_s": time.process_time() - start, "rss_mb": peak_mb()} | _scores(table, drawn)
        figures["answers_tv2"], figures["answers_max2"] = _errors(table, model, _sets(table.domain)[2])
        found.append(figures)
    return {metric: float(np.mean([each[metric] for each in found])) for metric in found[0]}


def _scores(table: StandIn, drawn: StandIn) -> dict[str, float]:
    """The errors of synthetic rows, whoever drew them."""
    figures: dict[str, float] = {}
    for order, columns in _sets(table.domain).items():
        figures[f"tv{order}"], figures[f"max{order}"] = _errors(table, drawn, columns)
    return figures


def _sets(domain: Domain) -> dict[int, list[tuple[str, ...]]]:
    """All pairs, and a fixed random choice of triples."""
    every = list(combinations(domain.names, 3))
    places = np.random.default_rng(0).choice(len(every), min(TRIPLES, len(every)), replace=False)
    return {2: list(combinations(domain.names, 2)), 3: [every[place] for place in places]}


def _errors(table: StandIn, released, sets: Sequence[tuple[str, ...]]) -> tuple[float, float]:
    """Mean total variation and largest error of a cell."""
    variations, largest = [], 0.0
    for columns in sets:
        truth, made = table.marginal(columns), released.marginal(columns)
        off = np.abs(truth / truth.sum() - made / made.sum())
        variations.append(off.sum() / 2)
        largest = max(largest, float(off.max()))
    return float(np.mean(variations)), largest
