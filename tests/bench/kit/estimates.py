"""Estimates from records with intervals from synthetic copies: how often they hold the truth, and how wide they are.

Tables are like those of `utility`: each has a column to predict of two values. What is estimated are correlations of
ordered columns, shares of the target in groups, and coefficients of a linear regression of it on the ordered columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from core.mechanisms.tree.tree import Tree
from core.privacy.unit import Unit
from core.release.copies.combining import combine
from core.release.copies.redrawing import Redrawing
from core.table.stand_in import StandIn
from tests.bench.kit.estimates_tables import LATER
from tests.bench.kit.promise.held_out import FAMILIES
from tests.kernels import run as release_of

Codes = NDArray[np.int64]
Found = Mapping[str, NDArray[np.float64]]
LEAST = 100
"""Real rows of a group whose share is estimated."""
TUNED = (("correlated", 1), ("network", 1))
"""Generated tables, by family and seed, that were looked at beside those of `utility_tables.py` while copies were made
what they are."""
BETWEEN = (("correlated", 2), ("network", 2), ("nested", 1), ("trial", 1), ("answers", 1))
"""Those that were looked at between rounds."""
ONCE_HELD_OUT = (("correlated", 3), ("nested", 2), ("trial", 2), ("journeys", 1))
"""Those that an earlier way to make copies was judged by; this one was not chosen on them."""
HELD_OUT = tuple((family, 1) for family in LATER)
"""Those of other laws, which were looked at when all settings stood."""


class Estimated(Protocol):
    """A table with a column to predict."""

    @property
    def known(self) -> StandIn: ...
    @property
    def place(self) -> int: ...
    @property
    def others(self) -> list[int]: ...
    def ordered(self) -> list[int]: ...


def family_table(family: str, seed: int) -> tuple[StandIn, str]:
    """A table of a family, one row per person, and its last column of two values."""
    made = {**FAMILIES, **LATER}[family](np.random.default_rng([seed, 5]))
    if made is None:
        raise FileNotFoundError(f"The tables of {family} are not here.")
    target = [attribute.name for attribute in made.domain if attribute.size == 2][-1]
    return StandIn(made.domain, made.codes, Unit.row()), target


def covered(task: Estimated, tree: Tree, runs: int, copies: int) -> dict[str, float]:
    """`within_*`, how often 95 % intervals hold what the released rows were made from; `width_*`, their median half
    width; and `error_*`, the root of the mean squared error. Widths and errors of coefficients are in standard errors
    of the real rows."""
    truth = statistics(task, task.known.codes)
    _, errors = regression(task.known.codes[:, task.ordered()], task.known.codes[:, task.place])
    found: dict[str, list[NDArray[np.float64]]] = {}
    for _ in range(runs):
        for name, value in _figures(*_estimated(task, tree, copies), truth, {"coefficient": errors}):
            found.setdefault(name, []).append(value)
    every = {name: np.concatenate(values) for name, values in found.items()}
    return {name: _whole(name, values) for name, values in every.items() if values.size}


def _estimated(task: Estimated, tree: Tree, copies: int) -> tuple[Found, list[Found], list[Found]]:
    """The statistics of one release, of its copies and of their origins."""
    rows, generator = len(task.known.codes), np.random.default_rng()
    model = release_of(tree, task.known)
    again = Redrawing(tree, task.known.unit, model, rows)
    released = statistics(task, model.sample(rows, generator))
    pairs = [again(generator) for _ in range(copies)]
    made = [statistics(task, copy.sample(rows, generator)) for _, copy in pairs]
    return released, made, [statistics(task, codes) for codes, _ in pairs]


def _figures(
    released: Found, copies: Sequence[Found], origins: Sequence[Found], truth: Found, units: Found
) -> Iterator[tuple[str, NDArray[np.float64]]]:
    for name, estimate in released.items():
        made = combine(estimate, [each[name] for each in copies], [each[name] for each in origins])
        unit = units.get(name, np.ones(estimate.shape))
        yield f"within_{name}", ((made.low <= truth[name]) & (truth[name] <= made.high)).astype(np.float64)
        yield f"width_{name}", (made.high - made.low) / 2 / unit
        yield f"error_{name}", (estimate - truth[name]) / unit


def _whole(name: str, values: NDArray[np.float64]) -> float:
    if name.startswith("error"):
        return float(np.sqrt(np.mean(values**2)))
    return float(np.median(values) if name.startswith("width") else np.mean(values))


def statistics(task: Estimated, rows: Codes) -> dict[str, NDArray[np.float64]]:
    """Correlations of ordered columns, shares of the target in groups of enough real rows, and coefficients."""
    ordered, target = task.ordered(), rows[:, task.place]
    with np.errstate(invalid="ignore", divide="ignore"):
        correlations = np.nan_to_num(np.corrcoef(rows[:, ordered].T))[np.triu_indices(len(ordered), 1)]
    groups = []
    for place in task.others:
        real = np.bincount(task.known.codes[:, place])
        sizes = np.bincount(rows[:, place], minlength=real.size)[: real.size]
        hits = np.bincount(rows[:, place], weights=target, minlength=real.size)[: real.size]
        groups.append((hits / np.maximum(sizes, 1))[real >= LEAST])
    slopes, _ = regression(rows[:, ordered], target)
    return {"correlation": correlations, "group_mean": np.concatenate(groups), "coefficient": slopes}


def regression(columns: Codes, target: Codes) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Slopes of ordinary least squares, and their standard errors."""
    design = np.column_stack([np.ones(len(columns)), columns]).astype(float)
    inverse = np.linalg.pinv(design.T @ design)
    slopes = inverse @ (design.T @ target)
    spread = float(((target - design @ slopes) ** 2).sum()) / max(len(columns) - design.shape[1], 1)
    return slopes[1:], np.sqrt(np.maximum(np.diag(inverse)[1:] * spread, 1e-30))
