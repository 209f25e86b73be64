"""Where people are and where sites may be: public sites, and the cells of one or two columns as places."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.base import limits
from core.base.arrays import Columns, Floats, IntArray
from core.base.errors import BadParameter, Refused, printable
from core.base.wording import amount
from core.schema.domain import Domain

STEPS = 2**14
"""Distances are whole parts of the largest one."""
EARTH = 6371.0
"""Radius in kilometres."""
MOST_PLACES = 2**16
MOST_PAIRS = 2**24
METRICS = ("plane", "latitude and longitude")


@dataclass(frozen=True, eq=False)
class Places:
    """Distances of every place from every site, as whole numbers of steps."""

    names: tuple[str, ...]
    steps: IntArray
    """One line per place, one number per site; 0 everywhere for a place that is nowhere."""
    step: float
    """How far one step is."""
    coordinates: Floats
    """Of the places, in the order of the cells; NaN for one that is nowhere."""
    known: int
    """Places that are somewhere."""

    @property
    def diameter(self) -> float:
        return STEPS * self.step

    def costs(self, chosen: tuple[int, ...]) -> IntArray:
        """The distance of every place from the nearest of the chosen sites."""
        return np.asarray(self.steps[:, list(chosen)].min(axis=1))


def read_sites(lines: Any) -> tuple[tuple[str, float, float], ...]:
    """Sites as they were typed: name, x, y (or name, latitude, longitude)."""
    found = []
    for line in lines if isinstance(lines, list | tuple) else ():
        if not isinstance(line, list | tuple) or len(line) != 3:
            raise BadParameter("sites", "each site needs a name and two coordinates.")
        name, *place = line
        if not all(isinstance(each, int | float) and math.isfinite(each) for each in place):
            raise BadParameter("sites", f"'{printable(name)}' needs two finite coordinates.")
        found.append((str(name), float(place[0]), float(place[1])))
    if not found:
        raise BadParameter("sites", "name at least one site with its coordinates.")
    if len({name for name, _, _ in found}) != len(found):
        raise BadParameter("sites", "each site may be named only once.")
    return tuple(found)


def places(sites: tuple[tuple[str, float, float], ...], columns: Columns, metric: str, domain: Domain) -> Places:
    limits.names(columns, "columns", 1, 2)
    size = domain.cells(columns)
    if size > MOST_PLACES or size * len(sites) > MOST_PAIRS:
        raise Refused(
            f"There are {amount(size)} places and {amount(len(sites))} sites; use coarser bins, at most "
            f"{amount(MOST_PLACES)} places and {amount(MOST_PAIRS)} pairs."
        )
    where = _named(sites, columns[0], domain) if len(columns) == 1 else _grid(columns, domain)
    spots = np.array([site[1:] for site in sites])
    apart = _earth(where, spots) if metric == METRICS[1] else _plane(where, spots)
    there = ~np.isnan(apart).any(axis=1)
    furthest = float(apart[there].max(initial=0.0))
    if not furthest > 0:
        raise BadParameter("sites", "lie in the same spot as every place, so that nothing is to be decided.")
    steps = np.zeros(apart.shape, dtype=np.int64)
    steps[there] = np.rint(apart[there] / furthest * STEPS).astype(np.int64)
    return Places(tuple(name for name, _, _ in sites), steps, furthest / STEPS, where, int(there.sum()))


def _named(sites: tuple[tuple[str, float, float], ...], column: str, domain: Domain) -> Floats:
    """Places that are sites themselves: a column whose values are names of sites."""
    attribute, known = domain[column], {name: (x, y) for name, x, y in sites}
    found = np.full((attribute.size, 2), np.nan)
    for code in range(attribute.regular):
        label = attribute.label(code)
        if label not in known:
            raise BadParameter(
                "sites", f"lack a value of column '{printable(column)}'; name a site for every value, or two columns."
            )
        found[code] = known[label]
    return found


def _grid(columns: Columns, domain: Domain) -> Floats:
    """The middles of the cells of two columns of numbers."""
    for name in columns:
        if not domain[name].numeric:
            raise BadParameter("columns", f"'{printable(name)}' is no column of numbers.")
    ends = []
    for name in columns:
        middles = np.full(domain[name].size, np.nan)
        middles[: domain[name].regular] = domain[name].centers()[: domain[name].regular]
        ends.append(middles)
    return np.stack(np.meshgrid(*ends, indexing="ij"), axis=-1).reshape(-1, 2)


def _plane(where: Floats, spots: Floats) -> Floats:
    return np.asarray(np.hypot(*(where[:, None, axis] - spots[None, :, axis] for axis in (0, 1))))


def _earth(where: Floats, spots: Floats) -> Floats:
    """Great circles in kilometres, from latitude and longitude in degrees."""
    one, two = np.radians(where)[:, None, :], np.radians(spots)[None, :, :]
    half = np.sin((two - one) / 2) ** 2
    arc = half[..., 0] + np.cos(one[..., 0]) * np.cos(two[..., 0]) * half[..., 1]
    return np.asarray(2 * EARTH * np.arcsin(np.sqrt(np.clip(arc, 0, 1))))
