"""Tables over a few ordered columns: they answer directly, and records are drawn from them table by table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.base.arrays import Codes, Columns, Floats, IntArray
from core.base.axes import summed
from core.models import tables
from core.models.drawing.rounding import systematic
from core.models.points import Points
from core.schema.domain import Domain


@dataclass(frozen=True, eq=False)
class Ranges:
    """Non-negative tables with a common total. Columns in no table are uniform and independent of everything.

    Two columns that no table holds together are independent, except through the columns that their tables share.
    """

    domain: Domain
    counts: Mapping[Columns, Floats]
    points: Points
    """Records of equal weight, for questions that no single table can answer."""

    @property
    def total(self) -> float:
        return self.points.total

    def marginal(self, columns: Sequence[str]) -> Floats:
        found = tables.lookup(self.counts, columns)
        return self.points.marginal(columns) if found is None else found

    def sample(self, rows: int, generator: np.random.Generator) -> Codes:
        return generator.permutation(laid(self.domain, self.counts, rows, generator))

    def tables(self) -> dict[Columns, Floats]:
        return dict(self.counts)


def ranges(domain: Domain, counts: Mapping[Columns, Floats], total: float, generator: np.random.Generator) -> Ranges:
    """The model of these tables, each scaled to the total."""
    scaled = {columns: _scaled(table, total) for columns, table in counts.items()}
    size = int(np.clip(4 * total, tables.FEWEST_POINTS, tables.MOST_POINTS))
    points = Points(domain, laid(domain, scaled, size, generator), np.full(size, total / size))
    return Ranges(domain, scaled, points)


def laid(domain: Domain, counts: Mapping[Columns, Floats], rows: int, generator: np.random.Generator) -> Codes:
    """Records in which every range of a table's last column, and of any column on its own table, keeps its share.

    Each table in turn adds the columns that are not there yet, given the ones that are, by systematic rounding. The
    first table's records come in its order; every later table is laid in random order within each group, so that
    columns which share no table stay independent.
    """
    codes = np.zeros((rows, len(domain)), dtype=np.int64)
    place = {name: axis for axis, name in enumerate(domain.names)}
    drawn: set[str] = set()
    every: dict[Columns, Floats] = dict(counts)
    for name in domain.names:
        if not any(name in columns for columns in counts):
            every[(name,)] = np.ones(domain[name].size)
    for columns, table in every.items():
        known = tuple(name for name in columns if name in drawn)
        new = tuple(name for name in columns if name not in drawn)
        if not new:
            continue
        sizes = domain.shape(new)
        lines = summed(table, columns, (*known, *new)).reshape(-1, int(np.prod(sizes)))
        groups = np.zeros(rows, dtype=np.int64)
        for name in known:
            groups = groups * domain[name].size + codes[:, place[name]]
        taken = _given(groups, lines, generator) if drawn else _dealt(lines[0], rows, generator)
        for name, values in zip(new, np.unravel_index(taken, sizes), strict=True):
            codes[:, place[name]] = values
        drawn.update(new)
    return codes


def _given(groups: IntArray, lines: Floats, generator: np.random.Generator) -> IntArray:
    """One cell per row, in the shares of the line that its group names; a line without mass follows all lines."""
    order = generator.permutation(groups.size)
    order = order[np.argsort(groups[order], kind="stable")]
    drawn = np.empty(groups.size, dtype=np.int64)
    ends = np.append(0, np.cumsum(np.bincount(groups, minlength=len(lines))))
    for group in np.flatnonzero(np.diff(ends)):
        members = order[ends[group] : ends[group + 1]]
        line = lines[group] if lines[group].sum() > 0 else lines.sum(axis=0)
        drawn[members] = _dealt(line, members.size, generator)
    return drawn


def _dealt(line: Floats, rows: int, generator: np.random.Generator) -> IntArray:
    """Cells in the shares of a line, in its order."""
    taken = systematic(line, rows, generator)
    return np.repeat(np.arange(taken.size), taken)


def _scaled(table: Floats, total: float) -> Floats:
    mass = table.sum()
    return table * (total / mass) if mass > 0 else np.full(table.shape, max(total, 0.0) / table.size)
