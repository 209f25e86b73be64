"""Tables made of real histograms in which most rows are in a few cells: a third group, on which nothing is tuned.

Incomes, costs of medicine, two columns of the census and citations (DPBench), where `RELEASE_DESK_BENCH_DATA` has them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from core.table.stand_in import StandIn
from tests.bench.kit.promise.tables import Laws, made_table
from tests.bench.kit.real_data import data_folder


def amounts(folder: Path) -> StandIn:
    """Incomes, costs and losses in many equal steps, most of which are empty."""
    generator, rows, laws = np.random.default_rng(5), 20_000, Laws()
    income = _drawn(np.load(folder / "INCOME.n4096.npy"), (512,), rows, generator)
    cost = _drawn(np.load(folder / "MEDCOST.n4096.npy"), (256,), rows, generator)
    laws.add("income", 512, income, ordered=True)
    laws.add("cost", 256, cost, ordered=True)
    laws.add("loss", 128, _drawn(np.load(folder / "ADULTFRANK.n4096.npy"), (128,), rows, generator), ordered=True)
    laws.add("rich", 2, income > np.median(income))
    laws.add("ill", 2, cost > np.median(cost))
    laws.add("group", 8, np.minimum(income // 32, 7))
    return made_table(laws)


def plane(folder: Path) -> StandIn:
    """Gains and losses of the census, of which nearly all are 0, and times of citations."""
    generator, rows, laws = np.random.default_rng(6), 30_000, Laws()
    gain, loss = np.divmod(_drawn(np.load(folder / "Adult_2D_256_256.npy"), (64, 64), rows, generator), 64)
    laws.add("gain", 64, gain, ordered=True)
    laws.add("loss", 64, loss, ordered=True)
    laws.add("cited", 128, _drawn(np.load(folder / "HEPTH.n4096.npy"), (128,), rows, generator), ordered=True)
    laws.add("gained", 2, gain > 0)
    laws.add("lost", 2, loss > 0)
    laws.add("part", 16, gain // 16 * 4 + loss // 16)
    return made_table(laws)


HISTOGRAMS: Mapping[str, Callable[[Path], StandIn]] = {"amounts": amounts, "plane": plane}


def histogram_table(name: str) -> StandIn | None:
    """The table of that name, the same at every call; None where the histograms are not here."""
    folder = data_folder() / "dpbench"
    return HISTOGRAMS[name](folder) if (folder / "INCOME.n4096.npy").exists() else None


def _drawn(counts: np.ndarray, shape: tuple[int, ...], rows: int, generator: np.random.Generator) -> np.ndarray:
    """Rows by a histogram, after joining neighbours to so many cells."""
    for axis, size in enumerate(shape):
        counts = np.add.reduceat(counts, np.arange(0, counts.shape[axis], counts.shape[axis] // size), axis=axis)
    return generator.choice(counts.size, rows, p=counts.ravel() / counts.sum())
