"""The first step of the tree mechanism: single columns and ranges, and what noise and rare values they leave."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from core.base.arrays import Columns, Floats
from core.kernel.measurement import Additive
from core.mechanisms.kit.portions import Noisy, Portion, measure_tables
from core.mechanisms.tree.compression import Compression, Grouping
from core.mechanisms.tree.measuring import LARGEST_TOTAL, Measuring
from core.mechanisms.tree.ranges import NestedCounts, nested_blocks
from core.mechanisms.tree.workload import Workload
from core.models.denoising.priors import shrunk_counts
from core.models.denoising.smoothing import smooth
from core.models.fitting.pyramid import Estimate
from core.models.fitting.simplex import simplex
from core.schema.domain import Attribute

RARE = 2.5
"""Values below this many standard deviations of their noise are merged."""
SMOOTHED = 0.7
"""How much of the noise smoothing leaves, about."""


@dataclass(frozen=True, eq=False)
class OneWay:
    """Estimated counts of single columns that sum to one total, and how rare values were merged."""

    total: float
    counts: Mapping[str, Floats]
    sigmas: Mapping[str, float]
    compression: Compression
    nested: Mapping[Columns, NestedCounts]
    """Ranges that were counted level by level."""

    def noisy(self) -> Noisy:
        """The columns' groups as noisy tables."""
        shares = self.shares()
        return Noisy(
            {(name,): self.total * shares[name] for name in self.sigmas if shares[name].size > 1},
            {(name,): sigma for name, sigma in self.sigmas.items()},
        )

    def ranges(self) -> Noisy:
        """Ranges over two or three columns as tables over groups."""
        wide = {columns: each for columns, each in self.nested.items() if len(columns) > 1}
        tables = {columns: each.merged(self.compression) for columns, each in wide.items()}
        return Noisy(tables, {columns: wide[columns].sigma(table.size) for columns, table in tables.items()})

    def shares(self) -> dict[str, Floats]:
        """The share of every group of every column."""
        groupings = self.compression.groupings
        merged = {name: groupings[name].merged(counts, 0) for name, counts in self.counts.items()}
        return {name: counts.astype(np.float64) / self.total for name, counts in merged.items()}


def measure_columns(
    measuring: Measuring, workload: Workload, rows: tuple[float, float], events: Mapping[Columns, Additive]
) -> OneWay:
    """Measure single columns and ranges, take noise out of ordered columns, and merge rare values."""
    kernel, levels = measuring.kernel, workload.nested()
    noisy = measure_tables(kernel, (Portion(each, event) for each, event in events.items() if each not in levels))
    blocks = {each: nested_blocks(kernel.domain, each, events[each], kernel.unit) for each in levels}
    estimates = {each: nested.measure(kernel) for each, nested in blocks.items()}
    total = _total(noisy, estimates.values(), rows)
    nested = {each: NestedCounts.of(each, estimate, total) for each, estimate in estimates.items()}
    counts, groupings, sigmas = {}, {}, {}
    for attribute in kernel.domain:
        name = attribute.name
        if (name,) in nested:
            counts[name], groupings[name], sigmas[name] = nested[name,].column(attribute.regular, total, RARE)
        elif (name,) in noisy.tables:
            sigma = noisy.sigmas[name,]
            counts[name] = simplex(_denoised(attribute, noisy.tables[name,], sigma, total), total)
            groupings[name] = Grouping.rare(counts[name], RARE * sigma)
            sigmas[name] = SMOOTHED * sigma if attribute.ordered else sigma
        else:
            counts[name] = np.full(attribute.size, total / attribute.size)
            groupings[name] = Grouping.rare(np.ones(attribute.size), math.inf)
    return OneWay(total, counts, sigmas, Compression(kernel.domain, groupings), nested)


def _denoised(attribute: Attribute, values: Floats, sigma: float, total: float) -> Floats:
    """Smoothed along the order of a column that has one, else shrunk; cells without a place in the order stay."""
    if not attribute.ordered:
        return shrunk_counts(values, sigma, total)
    regular = attribute.regular
    return np.concatenate([smooth(values[:regular], sigma), values[regular:]])


def _total(noisy: Noisy, nested: Iterable[Estimate], rows: tuple[float, float]) -> float:
    """The number of rows from its own noisy count, the tables' sums and those of the levels, by inverse variance."""
    counted, sigma = rows
    if sigma == 0:
        return max(counted, 1.0)
    weight, summed = sigma**-2, counted * sigma**-2
    for columns, table in noisy.tables.items():
        own = 1 / (table.size * noisy.sigmas[columns] ** 2)
        weight, summed = weight + own, summed + own * float(table.sum())
    for estimate in nested:
        own = 1 / float(estimate.variances[0].sum())
        weight, summed = weight + own, summed + own * float(estimate.values[0].sum())
    return min(max(summed / weight, 1.0), LARGEST_TOTAL)
