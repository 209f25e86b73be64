"""Coarse views of large ordered columns: a pair too large to be measured cell by cell can be measured in bins.

A coarse view is one more column, made from another one: neighbouring cells joined into bins of about equal mass by the
noisy one-way estimate, so the bins are public.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Columns, Floats
from core.mechanisms.kit.portions import Noisy
from core.mechanisms.tree.compression import Compression
from core.models.points import Points
from core.schema.domain import Domain, Integers
from core.table.views import Recoding

BINS = 8
FINE = 12
"""Columns with more cells than this have a coarse view."""


@dataclass(frozen=True, eq=False)
class Views:
    """The coarse views of merged columns: the column that each is made from, and the bin of each of its groups."""

    compression: Compression
    domain: Domain
    """The merged columns, then the views."""
    sources: Mapping[str, str]
    bins: Mapping[str, NDArray[np.int64]]
    halves: Mapping[str, str]
    """The view in two parts of every column that is seen so; a column of two groups is its own."""

    @classmethod
    def of(cls, compression: Compression, shares: Mapping[str, Floats], *, halves: bool = False) -> Views:
        """`shares` are those of the groups of every column."""
        original, merged = compression.original, compression.domain
        sources: dict[str, str] = {}
        bins: dict[str, NDArray[np.int64]] = {}
        halved: dict[str, str] = {}

        def add(name: str, words: str, parts: NDArray[np.int64]) -> str:
            view = f"{name} {words}"
            while view in merged or view in sources:
                view += "'"
            sources[view], bins[view] = name, parts
            return view

        for name in merged.names:
            if original[name].ordered and merged[name].size > FINE:
                add(name, "in bins", equal_mass(shares[name]))
            if halves and merged[name].size > 1:
                parts = two_parts(shares[name], ordered=original[name].ordered)
                halved[name] = name if merged[name].size == 2 else add(name, "in halves", parts)
        extra = (Integers(name=view, low=0, high=int(bins[view].max())) for view in sources)
        return cls(compression, Domain((*merged, *extra)), sources, bins, halved)

    def pairs(self, weights: Mapping[Columns, float]) -> dict[Columns, float]:
        """Every pair with at least one large column, seen coarsely, with the weight of the pair."""
        views = {source: view for view, source in self.sources.items() if view != self.halves.get(source)}
        return {
            tuple(views.get(name, name) for name in pair): weight
            for pair, weight in weights.items()
            if any(name in views for name in pair)
        }

    def halved(self, pairs: Iterable[Columns]) -> list[Columns]:
        """Every pair whose columns are seen in two parts, so."""
        return [
            (self.halves[left], self.halves[right])
            for left, right in pairs
            if left in self.halves and right in self.halves
        ]

    def columns(self, known: Noisy) -> Noisy:
        """What is known of single columns, told of their views."""
        tables: dict[Columns, Floats] = {
            (view,): np.bincount(self.bins[view], weights=known.tables[source,]).astype(np.float64)
            for view, source in self.sources.items()
            if (source,) in known.tables
        }
        wide = {key: len(self.bins[key[0]]) / table.size for key, table in tables.items()}
        return Noisy(tables, {key: known.sigmas[self.sources[key[0]],] * wide[key] ** 0.5 for key in tables})

    def points(self, points: Points) -> Points:
        """The same records with their bins."""
        names = points.domain.names
        extra = [self.bins[view][points.codes[:, names.index(source)]] for view, source in self.sources.items()]
        return Points(self.domain, np.column_stack([points.codes, *extra]), points.weights)

    def recodings(self) -> dict[str, Recoding]:
        """Every merged column and every view as a function of the column of the schema behind it."""
        groupings = self.compression.groupings
        merged = {name: Recoding(name, grouping.groups) for name, grouping in groupings.items()}
        binned = {
            view: Recoding(source, self.bins[view][groupings[source].groups]) for view, source in self.sources.items()
        }
        return merged | binned


def equal_mass(shares: Floats) -> NDArray[np.int64]:
    """Neighbouring cells joined into at most BINS bins of about equal mass."""
    heights = np.cumsum(shares)
    middles = (heights - shares / 2) / heights[-1] if heights[-1] > 0 else np.arange(shares.size) / shares.size
    bins = np.minimum((BINS * middles).astype(np.int64), BINS - 1)
    return np.unique(bins, return_inverse=True)[1].astype(np.int64)


def two_parts(shares: Floats, *, ordered: bool) -> NDArray[np.int64]:
    """Cells in two parts of masses as equal as can be: the first and the last of an order, or the heaviest and others.

    >>> two_parts(np.array([0.1, 0.7, 0.2]), ordered=False).tolist()
    [1, 0, 1]
    """
    order = np.arange(shares.size) if ordered else np.argsort(-shares, kind="stable")
    heights = np.cumsum(shares[order])[:-1]
    first = 1 + int(np.abs(heights - shares.sum() / 2).argmin())
    parts = np.ones(shares.size, dtype=np.int64)
    parts[order[:first]] = 0
    return parts
