"""Where people are and where sites may be: public sites, and the cells of one or two columns as places.

How far a place is from a site follows from coordinates, or from a public table of distances.
"""

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

Sites = tuple[tuple[str, float, float] | tuple[str], ...]
"""Names with two coordinates each, or names alone where distances are listed."""
Ways = tuple[tuple[str, str, float], ...]
"""A value of the column of places, a site, and how far apart they are."""
COORDINATES = (("latitude", "longitude"), ("lat", "lon"), ("lat", "lng"), ("east", "north"), ("x", "y"))
"""Names of two coordinates, as parts of the names of columns."""


@dataclass(frozen=True, eq=False)
class Places:
    """Distances of every place from every site, as whole numbers of steps."""

    names: tuple[str, ...]
    steps: IntArray
    """One line per place, one number per site; 0 everywhere for a place that is nowhere."""
    step: float
    """How far one step is."""
    known: int
    """Places that are somewhere."""

    @property
    def diameter(self) -> float:
        return STEPS * self.step

    @property
    def apart(self) -> Floats:
        """The distances themselves."""
        return np.asarray(self.steps * self.step, dtype=np.float64)

    def costs(self, chosen: tuple[int, ...]) -> IntArray:
        """The distance of every place from the nearest of the chosen sites."""
        return np.asarray(self.steps[:, list(chosen)].min(axis=1))


def read_sites(lines: Any, listed: bool) -> Sites:
    """Sites as they were typed: name, x, y (or name, latitude, longitude); the name is enough where distances are
    listed."""
    found: list[tuple[str, float, float] | tuple[str]] = []
    for line in lines if isinstance(lines, list | tuple) else ():
        if isinstance(line, list | tuple) and listed and len(line) >= 1:
            found.append((str(line[0]),))
            continue
        if not isinstance(line, list | tuple) or len(line) != 3:
            raise BadParameter("sites", "each site needs a name and two coordinates.")
        name, *place = line
        if not all(isinstance(each, int | float) and math.isfinite(each) for each in place):
            raise BadParameter("sites", f"'{printable(name)}' needs two finite coordinates.")
        found.append((str(name), float(place[0]), float(place[1])))
    if not found:
        raise BadParameter("sites", "name at least one site with its coordinates.")
    if len({site[0] for site in found}) != len(found):
        raise BadParameter("sites", "each site may be named only once.")
    return tuple(found)


def read_distances(lines: Any) -> Ways:
    """Distances as they were typed: place, site, distance."""
    found = []
    for line in lines if isinstance(lines, list | tuple) else ():
        if not isinstance(line, list | tuple) or len(line) != 3:
            raise BadParameter("distances", "each line needs a place, a site and how far apart they are.")
        place, site, far = line
        if isinstance(far, bool) or not isinstance(far, int | float) or not (math.isfinite(far) and far >= 0):
            raise BadParameter("distances", f"'{printable(place)}' needs a distance of at least 0.")
        found.append((str(place), str(site), float(far)))
    if len({line[:2] for line in found}) != len(found):
        raise BadParameter("distances", "each place and site may be listed only once together.")
    return tuple(found)


def places(sites: Sites, columns: Columns, metric: str, distances: Ways, domain: Domain) -> Places:
    limits.names(columns, "columns", 1, 2)
    size = domain.cells(columns)
    if size > MOST_PLACES or size * len(sites) > MOST_PAIRS:
        raise Refused(
            f"There are {amount(size)} places and {amount(len(sites))} sites; use coarser bins, at most "
            f"{amount(MOST_PLACES)} places and {amount(MOST_PAIRS)} pairs."
        )
    apart = _listed(sites, columns, distances, domain) if distances else _measured(sites, columns, metric, domain)
    there = ~np.isnan(apart).any(axis=1)
    furthest = float(apart[there].max(initial=0.0))
    if not furthest > 0:
        raise BadParameter("sites", "lie in the same spot as every place, so that nothing is to be decided.")
    steps = np.zeros(apart.shape, dtype=np.int64)
    steps[there] = np.rint(apart[there] / furthest * STEPS).astype(np.int64)
    return Places(tuple(site[0] for site in sites), steps, furthest / STEPS, int(there.sum()))


def _listed(sites: Sites, columns: Columns, distances: Ways, domain: Domain) -> Floats:
    """Distances from a table: one column of places, which need not be sites."""
    if len(columns) != 1:
        raise BadParameter("distances", "go with one column, whose values are the places.")
    attribute = domain[columns[0]]
    rows = {attribute.label(code): code for code in range(attribute.regular)}
    lines = {site[0]: line for line, site in enumerate(sites)}
    found = np.full((attribute.size, len(sites)), np.nan)
    for place, site, far in distances:
        if place not in rows:
            raise BadParameter("distances", f"'{printable(place)}' is no value of '{printable(columns[0])}'.")
        if site not in lines:
            raise BadParameter("distances", f"'{printable(site)}' is no site.")
        found[rows[place], lines[site]] = far
    for place, code in rows.items():
        if np.isnan(found[code]).any():
            raise BadParameter("distances", f"lack one from '{printable(place)}' to a site.")
    return found


def _measured(sites: Sites, columns: Columns, metric: str, domain: Domain) -> Floats:
    """Distances from coordinates."""
    where = _named(sites, columns[0], domain) if len(columns) == 1 else _grid(columns, domain)
    spots = np.array([site[1:] for site in sites])
    if metric == METRICS[1] and (np.abs(spots) > (90, 360)).any():
        raise BadParameter("sites", "need a latitude from -90 to 90 first, then a longitude.")
    return _earth(where, spots) if metric == METRICS[1] else _plane(where, spots)


def _named(sites: Sites, column: str, domain: Domain) -> Floats:
    """Places that are sites themselves: a column whose values are names of sites."""
    attribute, known = domain[column], {site[0]: site[1:] for site in sites}
    found = np.full((attribute.size, 2), np.nan)
    for code in range(attribute.regular):
        label = attribute.label(code)
        if label not in known:
            raise BadParameter(
                "sites",
                f"lack a value of column '{printable(column)}'; name a site for every value, list distances, or name "
                "two columns.",
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


def likely_places(domain: Domain) -> list[str]:
    """Two columns of numbers whose names say that they are coordinates, else the columns of numbers.

    >>> from core.schema.domain import Integers
    >>> named = ("hour", "start_east", "start_north")
    >>> likely_places(Domain(tuple(Integers(name=name, low=0, high=9) for name in named)))
    ['start_east', 'start_north']
    """
    numeric = {attribute.name.lower(): attribute.name for attribute in domain if attribute.numeric}
    for one, other in COORDINATES:
        for name, written in numeric.items():
            parts = name.split("_")
            if one in parts and (second := "_".join(other if part == one else part for part in parts)) in numeric:
                return [written, numeric[second]]
    return list(numeric.values())
