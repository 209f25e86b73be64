"""An ordered column cut into pieces, and prefix sums over them: the ground of intervals, unions and rectangles.

The cells of 'missing' have no place in the order: their rows count in the total and lie in no interval.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Columns, Floats, IntArray
from core.base.errors import BadParameter, printable
from core.base.options import option
from core.queries.kit import checks
from core.queries.kit.protocol import Source
from core.schema.attributes import Attribute
from core.schema.domain import Domain


def bits_option(columns: str) -> Any:
    """How finely bounds are placed."""
    help = f"Bounds fall on 2^bits equal pieces of {columns}; empty means on every cell."
    return option("whole", "Bits", default=None, low=1, help=help)


def check(domain: Domain, columns: Columns, bits: int | None, parameter: str) -> None:
    """Refuse columns without an order and more bits than a column has."""
    checks.ordered(domain, columns, parameter)
    for column in columns:
        cells = domain[column].regular
        most = cells.bit_length() - 1
        if bits is not None and bits > most:
            raise BadParameter("bits", f"column '{printable(column)}' has {cells:,} cells; use at most {most} bits.")


def edges(domain: Domain, column: str, bits: int | None) -> IntArray:
    """First cell of each piece, and one past the last: every cell a piece, or 2**bits pieces of nearly equal width."""
    cells = domain[column].regular
    return _cuts(cells, cells if bits is None else 2**bits)


@lru_cache(maxsize=4)
def _cuts(cells: int, count: int) -> IntArray:
    cuts = np.arange(count + 1, dtype=np.int64) * cells // count
    cuts.flags.writeable = False
    return cuts


def prefix(table: NDArray[Any], cuts: IntArray, axis: int = 0) -> NDArray[Any]:
    """Sums of all cells before each cut, along one axis; integers stay integers."""
    table = np.moveaxis(table, axis, 0)[: cuts[-1]]
    sums = np.concatenate([np.zeros_like(table[:1]), np.cumsum(table, axis=0)])
    return np.moveaxis(sums[cuts], 0, axis)


def prefix_difference(truth: Source, estimate: Source, columns: Columns, bits: int | None) -> Floats:
    """Difference of the two cumulative shares at every corner of the grid of pieces."""
    difference = shares(truth, columns) - shares(estimate, columns)
    for axis, column in enumerate(columns):
        difference = prefix(difference, edges(truth.domain, column, bits), axis)
    return difference


def shares(source: Source, columns: Columns) -> Floats:
    table = np.asarray(source.marginal(columns), dtype=np.float64)
    rows = table.sum()
    return table / rows if rows > 0 else np.zeros_like(table)


def ends(count: int, pieces: int, generator: np.random.Generator) -> IntArray:
    """Pairs of cuts i < j, uniform over all intervals of `pieces` pieces."""
    first = generator.integers(0, pieces + 1, count)
    second = generator.integers(0, pieces, count)
    second += second >= first
    return np.sort(np.stack([first, second], axis=1), axis=1).astype(np.int64)


def between(sums: NDArray[Any], places: IntArray) -> NDArray[Any]:
    """Totals between a first and a last place of every axis, one line each, by differences of a summed-area table.

    >>> between(np.array([0, 5, 7, 7]), np.array([[0, 2], [1, 3]])).tolist()
    [7, 2]
    """
    found = np.zeros(len(places), dtype=sums.dtype)
    for lasts in product((0, 1), repeat=sums.ndim):
        corner = tuple(places[:, 2 * axis + last] for axis, last in enumerate(lasts))
        found += sums[corner] * (-1) ** (sums.ndim - sum(lasts))
    return found


def span(attribute: Attribute, first: int, last: int) -> str:
    """Cells first to last in plain words, from the outer ends of their labels."""
    low, high = attribute.label(first).split(" to ")[0], attribute.label(last).split(" to ")[-1]
    return f"{printable(attribute.name)} {f'= {low}' if low == high else f'from {low} to {high}'}"
