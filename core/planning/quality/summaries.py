"""Means, quantiles and correlations, true and released, with the interval that chance alone would give the true ones.

**Privacy** None: exact, for the curator's eyes only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from core.base.arrays import Floats
from core.planning.quality.quality import MOST_CELLS, MOST_COLUMNS
from core.queries.kit.protocol import Source
from core.schema.domain import Attribute, Dates

QUANTILES = (0.25, 0.5, 0.75)
NORMAL = 1.96
"""95 % of a normal law lie within so many standard deviations."""


@dataclass(frozen=True, kw_only=True)
class ComparedNumber:
    """One number of the table beside that of the release, both in the middle of bins."""

    name: str
    """'mean', 'median', 'lower quartile', 'upper quartile' or 'correlation'."""
    columns: tuple[str, ...]
    truth: float
    low: float
    high: float
    """The sampling interval: where the number of a table of as many rows from the same population lies, 95 % of the
    time. A release inside of it is as good as another sample."""
    released: float

    @property
    def inside(self) -> bool:
        return self.low <= self.released <= self.high


def numbers_of(truth: Source, released: Source) -> tuple[ComparedNumber, ...]:
    """The mean and the quartiles of every column of numbers or dates."""
    found: list[ComparedNumber] = []
    for name in truth.domain.names[:MOST_COLUMNS]:
        attribute = truth.domain[name]
        if attribute.ordered:
            tables = [_known(attribute, source.marginal([name])) for source in (truth, released)]
            if min(float(table.sum()) for table in tables) > 0:
                found += _of(attribute, *tables)
    return tuple(found)


def correlations_of(truth: Source, released: Source) -> tuple[ComparedNumber, ...]:
    """Pearson's correlation of every two columns of numbers, the strongest first."""
    domain = truth.domain
    names = [name for name in domain.names[:MOST_COLUMNS] if domain[name].ordered and domain[name].regular > 1]
    pairs = [pair for pair in combinations(names, 2) if domain.cells(pair) <= MOST_CELLS]
    found = [_correlation(pair, truth, released) for pair in pairs]
    return tuple(sorted(found, key=lambda number: -abs(number.truth)))


def shown(attribute: Attribute, value: float) -> str:
    """A number of a column as people write it."""
    if isinstance(attribute, Dates):
        return str(np.datetime64(round(value), "D"))
    return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"


def _known(attribute: Attribute, counts: Floats) -> Floats:
    """Counts of the ordinary cells; 'missing' has no number."""
    return np.maximum(np.asarray(counts, dtype=np.float64)[: attribute.regular], 0.0)


def _of(attribute: Attribute, true: Floats, given: Floats) -> list[ComparedNumber]:
    values, rows, own = attribute.centers()[: attribute.regular], float(true.sum()), (attribute.name,)
    mean = float(values @ true) / rows
    off = NORMAL * math.sqrt(float((values - mean) ** 2 @ true) / rows / rows)
    found = [
        ComparedNumber(
            name="mean",
            columns=own,
            truth=mean,
            low=mean - off,
            high=mean + off,
            released=float(values @ given) / float(given.sum()),
        )
    ]
    for name, place in zip(("lower quartile", "median", "upper quartile"), QUANTILES, strict=True):
        # The ranks of a quantile in a sample are binomial, which gives its interval whatever the law of the values.
        reach = NORMAL * math.sqrt(place * (1 - place) / rows)
        found.append(
            ComparedNumber(
                name=name,
                columns=own,
                truth=_quantile(values, true, place),
                low=_quantile(values, true, max(place - reach, 0.0)),
                high=_quantile(values, true, min(place + reach, 1.0)),
                released=_quantile(values, given, place),
            )
        )
    return found


def _quantile(values: Floats, counts: Floats, place: float) -> float:
    running = np.cumsum(counts)
    return float(values[min(int(np.searchsorted(running, place * running[-1] * (1 - 1e-12))), len(values) - 1)])


def _correlation(pair: tuple[str, str], truth: Source, released: Source) -> ComparedNumber:
    values = [truth.domain[name].centers()[: truth.domain[name].regular] for name in pair]
    tables = []
    for source in (truth, released):
        table = np.maximum(np.asarray(source.marginal(pair), dtype=np.float64), 0.0)
        tables.append(table[: len(values[0]), : len(values[1])])
    true, given = (_pearson(table, *values) for table in tables)
    reach = NORMAL / math.sqrt(max(float(tables[0].sum()) - 3, 1.0))
    # Fisher: the inverse hyperbolic tangent of a correlation is nearly normal with this spread.
    middle = math.atanh(min(max(true, -0.999999), 0.999999))
    return ComparedNumber(
        name="correlation",
        columns=pair,
        truth=true,
        low=math.tanh(middle - reach),
        high=math.tanh(middle + reach),
        released=given,
    )


def _pearson(table: Floats, rows: Floats, columns: Floats) -> float:
    total = float(table.sum())
    if total <= 0:
        return 0.0
    across, down = table.sum(axis=0) / total, table.sum(axis=1) / total
    one, other = rows - rows @ down, columns - columns @ across
    spread = math.sqrt(float(one**2 @ down) * float(other**2 @ across))
    return float(one @ table @ other) / total / spread if spread > 0 else 0.0
