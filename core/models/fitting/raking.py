"""Re-weight records so that noisy tables are met to within their noise."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Columns, Floats
from core.base.axes import stretched, summed
from core.models.fitting.bundles import Records
from core.models.fitting.slack import Slack
from core.models.points import Points
from core.queries.kit.grouped import GroupedTable


@dataclass(frozen=True, eq=False)
class TableGoal:
    """Noisy counts over some axes of the parts that records fall into, or over groups of their values."""

    columns: Columns
    target: Floats
    sigma: float | Floats
    groups: GroupedTable | None = None

    def factors(self, mass: Floats, bounds: Slack, total: float) -> Floats:
        """What each cell of a table over the columns is to be multiplied with, given what it holds now."""
        held = mass if self.groups is None else self.groups.merged(mass)
        factor = bounds.factor(held)
        factor *= total / float((held * factor).sum())
        return factor if self.groups is None else self.groups.spread(factor)


@dataclass(frozen=True, eq=False)
class Pull:
    """Noisy counts of the parts into which the records fall: the cells of a table, or any other partition.

    Tables that are counted together share one joint table (`bundles.py`) and the pass over the records that it takes.
    """

    places: NDArray[Any]
    """The part of each record."""
    joint: Columns
    """The axes of the parts."""
    shape: tuple[int, ...]
    wanted: tuple[TableGoal, ...]

    @classmethod
    def of(cls, places: NDArray[np.int64], target: Floats, sigma: float) -> Pull:
        """One partition, whatever its parts are."""
        return cls(
            _narrow(places, target.size), ("part",), (target.size,), (TableGoal(("part",), target.ravel(), sigma),)
        )

    @classmethod
    def all_of(
        cls,
        points: Points,
        tables: Mapping[Columns, Floats],
        sigmas: Mapping[Columns, float],
        sums: Mapping[Columns, TableGoal] | None = None,
    ) -> list[Pull]:
        """All cells of many tables, and sums of some, in as few passes over the records as small joint tables allow."""
        records = Records(points.codes, dict(zip(points.domain.names, points.domain.shape(), strict=True)))
        found = []
        for bundle in records.bundles(tables):
            shape = points.domain.shape(bundle.columns)
            wanted = [TableGoal(columns, tables[columns], sigmas[columns]) for columns in bundle.tables]
            wanted += [sums[columns] for columns in bundle.tables if sums and columns in sums]
            places = _narrow(records.places(bundle), math.prod(shape))
            found.append(cls(places, bundle.columns, shape, tuple(wanted)))
        return found


def rake(
    points: Points,
    tables: Mapping[Columns, Floats],
    sigmas: Mapping[Columns, float],
    sweeps: int = 12,
    slack: float = 1.0,
) -> Points:
    """Weights nearest to the given ones that meet every table to within its noise times `slack`; the total stays.

    Tables may be negative in places, as measured. **Runtime** O(points x bundles x sweeps), a bundle being tables that
    are counted in one pass.
    """
    return replace(points, weights=pulled(points.weights, Pull.all_of(points, tables, sigmas), sweeps, slack))


def pulled(weights: Floats, pulls: Sequence[Pull], sweeps: int = 12, slack: float = 1.0) -> Floats:
    """Weights nearest to the given ones that meet all these counts to within their noise times `slack`."""
    total = float(weights.sum())
    weights = weights.copy()
    slacks = [[(each, Slack(each.target, slack * each.sigma)) for each in pull.wanted] for pull in pulls]
    for _ in range(sweeps):
        for pull, bounds in zip(pulls, slacks, strict=True):
            held = np.bincount(pull.places, weights=weights, minlength=math.prod(pull.shape))
            counts = held.astype(np.float64, copy=False).reshape(pull.shape)
            weights *= _factors(counts, pull.joint, bounds, total).ravel()[pull.places]
    return weights


def _factors(held: Floats, joint: Columns, wanted: Sequence[tuple[TableGoal, Slack]], total: float) -> Floats:
    """What each cell of joint counts is multiplied with by one table after the other: the same as record by record."""
    factors = np.ones_like(held)
    for each, bounds in wanted:
        mass = summed(held * factors, joint, each.columns)
        factors = factors * stretched(each.factors(mass, bounds, total), each.columns, joint)
    return factors


def places(points: Points, columns: Columns) -> NDArray[np.int64]:
    """The cell of a table that each record falls into."""
    axes = [points.domain.names.index(column) for column in columns]
    return np.ravel_multi_index(tuple(points.codes[:, axes].T), points.domain.shape(columns)).astype(np.int64)


def _narrow(places: NDArray[Any], cells: int) -> NDArray[Any]:
    """Places in the smallest type that fits: there are many tables."""
    return places.astype(np.min_scalar_type(max(cells - 1, 0)))
