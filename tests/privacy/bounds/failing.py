"""Runs that miss the error a theorem promises, and how many of them are too many."""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.queries.marginals import Marginals
from core.schema.domain import Booleans, Domain
from core.table.counts import Cells
from tests.kernels import run

RUNS = 200
NOISE = Noise()
PUBLIC = Unit.row("replace")
"""The papers know n; then neighbours replace a row."""

PAIR = Domain((Booleans(name="a"), Booleans(name="b")))
ONE_WAY = Marginals(order=1)
SIZES = {"log_universe": math.log(4), "log_queries": math.log(4), "beta": 0.2}
TABLES = [[1.0, 0.0, 0.0, 0.0], [0.6, 0.25, 0.05, 0.1]]


def surely_above(failures: int, runs: int, beta: float) -> bool:
    """Whether so many failures are implausible for a failure probability of beta."""
    return failures > 0 and float(stats.beta.ppf(1e-3, failures, runs - failures + 1)) > beta


def spread(rows: int, weights: list[float]) -> np.ndarray:
    """So many rows in about these proportions."""
    edges = np.rint(rows * np.cumsum([0.0, *weights]) / sum(weights)).astype(np.int64)
    return np.diff(edges)


def failures(mechanism, counts: Cells, query, alpha: float, runs: int = RUNS) -> int:
    """Runs of a mechanism whose worst answer misses the truth by more than alpha."""
    return sum(query.worst(counts, run(mechanism, counts, NOISE)) > alpha for _ in range(runs))
