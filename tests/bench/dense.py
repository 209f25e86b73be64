"""Dense multiplicative weights: one update of a whole 3-way marginal, and all 3-way marginals, on 10^5 to 10^7 cells.

SmartNoise updates the histogram once for every cell of the marginal, each time by a query as large as the histogram; it
cannot be installed beside us, so its figures are recorded. `per-query` is that way of working in plain numpy, measured
here on the smallest histogram. Target: the update and all 3-way marginals together at least 20x faster than
SmartNoise's update alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

import numpy as np

from core.kernel.tables import Marginal
from core.models.dense import Dense
from core.models.fitting.updates import Weights
from core.queries.marginals import Marginals
from core.schema.domain import Categories, Domain
from tests.bench.kit.line import Line, cpu_seconds
from tests.bench.kit.recorded import recorded

COLUMNS = (5, 6, 7)
"""Columns of ten values each."""
ROWS = 100_000.0


def run() -> Iterator[Line]:
    for columns in COLUMNS:
        model = _uneven(columns)
        cells = f"1e{columns} cells"
        table = Marginal(model.domain.names[:3])
        wanted = np.random.default_rng(2).dirichlet(np.ones(1000)).reshape(10, 10, 10) * ROWS
        update = cpu_seconds(lambda model=model, table=table, wanted=wanted: Weights().apply(model, table, wanted))
        every = cpu_seconds(lambda model=model: Marginals(order=3).totals(model))
        apart = cpu_seconds(
            lambda model=model: [model.marginal(names) for names in combinations(model.domain.names, 3)], repeats=1
        )
        theirs = recorded("dense", f"update {cells}", "cpu_s", "smartnoise")
        for case, ours in (("update", update), ("update + all 3-way marginals", update + every)):
            yield Line("dense", f"{case}, {cells}", "cpu_s", ours, "smartnoise update", theirs, theirs_from="recorded")
        yield Line("dense", f"all 3-way marginals, {cells}", "cpu_s", every, "one by one", apart)
        if columns == COLUMNS[0]:
            slow = cpu_seconds(lambda model=model, wanted=wanted: _per_query(model.cells, wanted), repeats=1)
            yield Line("dense", f"update + all 3-way marginals, {cells}", "cpu_s", update + every, "per-query", slow)


def _uneven(columns: int) -> Dense:
    domain = Domain(tuple(Categories(name=f"c{place}", values=tuple(range(10))) for place in range(columns)))
    cells = np.random.default_rng(1).random(10**columns)
    return Dense(domain, cells * (ROWS / cells.sum()))


def _per_query(cells: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """One multiplicative update per cell of the first three columns, each through its full indicator."""
    cells = cells.copy()
    for place in product(range(10), repeat=3):
        indicator = np.zeros(cells.shape)
        indicator[place] = 1.0
        error = wanted[place] - (indicator * cells).sum()
        cells = cells * np.exp(indicator * error / (2 * ROWS))
        cells *= ROWS / cells.sum()
    return cells
