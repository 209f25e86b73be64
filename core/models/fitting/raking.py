"""Re-weight records so that noisy tables are met to within their noise."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Columns, Floats
from core.base.axes import stretched, summed
from core.models.fitting.bundles import Records
from core.models.fitting.moments import MomentGoal
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
    early: ClassVar[bool] = False

    def bounds(self, slack: float) -> Slack:
        return Slack(self.target, slack * self.sigma)

    def factors(self, mass: Floats, bounds: Slack, total: float) -> Floats:
        """What each cell of a table over the columns is to be multiplied with, given what it holds now."""
        held = mass if self.groups is None else self.groups.merged(mass)
        factor = bounds.factor(held)
        factor *= total / float((held * factor).sum())
        return factor if self.groups is None else self.groups.spread(factor)


Goal = TableGoal | MomentGoal


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
    wanted: tuple[Goal, ...]

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
        more: Mapping[Columns, Sequence[Goal]] | None = None,
    ) -> list[Pull]:
        """All cells of many tables, and more of some, in as few passes over the records as small joint tables allow."""
        records = Records(points.codes, dict(zip(points.domain.names, points.domain.shape(), strict=True)))
        found = []
        for bundle in records.bundles(tables):
            shape = points.domain.shape(bundle.columns)
            wanted: list[Goal] = [TableGoal(columns, tables[columns], sigmas[columns]) for columns in bundle.tables]
            wanted += [goal for columns in bundle.tables for goal in (more or {}).get(columns, ())]
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
    """Weights nearest to the given ones that meet all these counts to within their noise times `slack`.

    Where some goals are `early`, the nearest that meet all of them are found first, in half of the sweeps, and then the
    nearest to those that meet the others, which so have the last word.
    """
    if not any(each.early for pull in pulls for each in pull.wanted):
        return _nearest(weights, pulls, sweeps, slack)
    late = [replace(pull, wanted=tuple(each for each in pull.wanted if not each.early)) for pull in pulls]
    led = _nearest(weights, pulls, sweeps - sweeps // 2, slack)
    return _nearest(led, late, sweeps // 2, slack)


def _nearest(weights: Floats, pulls: Sequence[Pull], sweeps: int, slack: float) -> Floats:
    total = float(weights.sum())
    weights = weights.copy()
    slacks = [[(each, each.bounds(slack)) for each in pull.wanted] for pull in pulls]
    # kept from pass to pass: new memory for every pass would cost several times what the pass itself does
    places, factors = np.empty(weights.size, dtype=np.intp), np.empty(weights.size)
    for _ in range(sweeps):
        for pull, bounds in zip(pulls, slacks, strict=True):
            places[:] = pull.places
            held = np.bincount(places, weights=weights, minlength=math.prod(pull.shape))
            counts = held.astype(np.float64, copy=False).reshape(pull.shape)
            np.take(_factors(counts, pull.joint, bounds, total).ravel(), places, out=factors, mode="clip")
            weights *= factors
    return weights


def _factors(held: Floats, joint: Columns, wanted: Sequence[tuple[Any, Any]], total: float) -> Floats:
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
