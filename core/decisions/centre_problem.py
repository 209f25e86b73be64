"""Centres of groups of people in a space of a few numbers: what both ways to place them share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core.base import limits
from core.base.arrays import Floats
from core.base.errors import BadParameter, printable
from core.base.options import check_options, option
from core.base.wording import amount
from core.decisions.decision import Decided, MeasuredCost
from core.privacy.budget import Budget
from core.schema.attributes import Attribute
from core.schema.domain import Domain

STARTS, ROUNDS = 8, 60
"""Random starts of the search, and rounds of each: it ends where no centre moves."""


@dataclass(frozen=True, kw_only=True)
class CentreProblem:
    """Columns of numbers, and how many centres there are."""

    problem: ClassVar[str] = "k-means"

    budget: Budget
    columns: tuple[str, ...] = option("columns", "Columns of numbers", low=2, high=10, only="numeric", start=2)
    k: int = option("whole", "Centres", default=5, low=1, high=100)

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", limits.names(self.columns))
        check_options(self)

    def check_columns(self, domain: Domain) -> None:
        """Refuse what is no number, and more centres than places."""
        for name in self.columns:
            if not domain[name].numeric:
                raise BadParameter("columns", f"'{printable(name)}' is no column of numbers.")
        if self.k >= domain.cells(self.columns):
            raise BadParameter("k", "must be below the number of cells.")

    def decided(self, centres: Floats, estimate: MeasuredCost | None = None) -> Decided:
        lines = tuple(
            {"centre": place + 1, **{name: round(float(at), 6) for name, at in zip(self.columns, centre, strict=True)}}
            for place, centre in enumerate(centres)
        )
        return Decided(
            sentence=f"{amount(self.k)} centres were placed.",
            lines=lines,
            facts={"columns": list(self.columns)},
            estimate=estimate,
        )

    def centres_of(self, decided: Decided) -> Floats:
        return np.array([[line[name] for name in self.columns] for line in decided.lines])


def middles(attribute: Attribute) -> Floats:
    """The middle of every cell of a column of numbers; NaN where there is none."""
    found = np.full(attribute.size, np.nan)
    found[: attribute.regular] = attribute.centers()[: attribute.regular]
    return found


def placed(points: Floats, weights: Floats, k: int, generator: np.random.Generator) -> Floats:
    """Weighted k-means (Lloyd) from several k-means++ starts; what is nowhere or weighs nothing does not count."""
    somewhere = np.asarray(~np.isnan(points).any(axis=1))
    there = np.asarray(somewhere & (weights > 0))
    if there.sum() <= k:
        there, weights = somewhere, np.ones(len(points))
    where, heavy = points[there], weights[there]
    found = [_settled(where, heavy, _started(where, heavy, k, generator)) for _ in range(STARTS)]
    return min(found, key=lambda centres: float(heavy @ nearest(where, centres)[1]))


def _started(points: Floats, weights: Floats, k: int, generator: np.random.Generator) -> Floats:
    chosen = [int(generator.choice(len(points), p=weights / weights.sum()))]
    squares = ((points - points[chosen[0]]) ** 2).sum(axis=1)
    for _ in range(k - 1):
        odds = weights * squares
        total = odds.sum()
        chosen.append(int(generator.choice(len(points), p=odds / total if total > 0 else None)))
        squares = np.minimum(squares, ((points - points[chosen[-1]]) ** 2).sum(axis=1))
    return points[chosen]


def _settled(points: Floats, weights: Floats, centres: Floats) -> Floats:
    for _ in range(ROUNDS):
        owner = nearest(points, centres)[0]
        mass = np.bincount(owner, weights, len(centres))
        sums = np.stack([np.bincount(owner, weights * axis, len(centres)) for axis in points.T], axis=1)
        moved = np.where(mass[:, None] > 0, sums / np.maximum(mass, 1e-300)[:, None], centres)
        if np.allclose(moved, centres):
            break
        centres = moved
    return centres


def nearest(points: Floats, centres: Floats) -> tuple[np.ndarray, Floats]:
    """The nearest centre of every point, and its squared distance."""
    squares = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
    owner = squares.argmin(axis=1)
    return owner, squares[np.arange(len(points)), owner]
