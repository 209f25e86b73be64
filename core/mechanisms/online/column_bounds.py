"""How far off an answer can be by what was measured of single columns: no more rows fulfil all conditions than one.

A count of several columns lies between 0 and the rows that any one of its conditions leaves (Frechet); a count or a
weighted sum of one column is known as well as that column, and the number of all rows as well as the columns tell it.
Where this says at least as much as a private test of the answer would, there is nothing to test: narrow questions cost
no false alarms, and have narrower intervals. All of it is post-processing.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from core.base.arrays import Floats, IntArray
from core.kernel.query import Query, Single
from core.mechanisms.kit.intervals import Reach
from core.models.column_counts import ColumnCounts


def bounds(question: Query, columns: Mapping[str, ColumnCounts], miss: float) -> tuple[float, float] | None:
    """In rows, the least and the most that the truth can be but for a probability of `miss`; None if nothing is known.

    Each of k columns may fail with probability miss/k.
    """
    if not question.columns:
        return _near(_rows(columns, miss), float(question.weights) / question.denominator)
    if len(question.columns) == 1 and question.columns[0] in columns and not _same(question.weights):
        return _near(_weighted(question.weights / question.denominator, question.columns[0], columns, miss))
    known = [(axis, columns[name]) for axis, name in enumerate(question.columns) if name in columns]
    if not known:
        return None
    top, low, high = int(question.weights.max(initial=0)) / question.denominator, 0.0, np.inf
    for axis, counts in known:
        chosen = np.asarray(np.moveaxis(question.weights, axis, 0).reshape(counts.size, -1).any(axis=1))
        rows, reach = counts.sum_of(chosen, miss / len(known))
        high = min(high, max(0.0, rows + reach) * top)
        if len(question.columns) == 1:
            low = max(0.0, rows - reach) * top
    return low, max(low, float(high))


def _same(weights: IntArray) -> bool:
    """Whether no row counts for more than another, but for those that do not count."""
    return bool((weights[weights != 0] == weights.max(initial=0)).all())


def _near(found: tuple[float, float] | None, times: float = 1.0) -> tuple[float, float] | None:
    """The ends of what is not below 0, from its middle and how far off that is."""
    return None if found is None else (max(0.0, found[0] - found[1]) * times, max(0.0, found[0] + found[1]) * times)


def _rows(columns: Mapping[str, ColumnCounts], miss: float) -> tuple[float, float] | None:
    """All rows, by the column that tells them best; which one that is depends on no noise."""
    found = [each.weighted_sum(np.ones(each.size), miss) for each in columns.values()]
    return min(found, key=lambda each: each[1], default=None)


def _weighted(weights: Floats, name: str, columns: Mapping[str, ColumnCounts], miss: float) -> tuple[float, float]:
    """The sum of weights over the cells of a column, and how far off that is.

    Or as the sum of how much they differ from the middle weight, and that many times all rows: what differs less has
    less noise. What the column tells may fail with probability 2 miss/3 in both ways, for all weights at once, and the
    number of all rows with miss/3.
    """
    known, all_rows = columns[name], _rows(columns, miss / 3)
    assert all_rows is not None
    middle = float(weights.max() + weights.min()) / 2
    value, reach = known.weighted_sum(weights - middle, 2 * miss / 3)
    around = value + middle * all_rows[0], reach + middle * all_rows[1]
    return min(known.weighted_sum(weights, 2 * miss / 3), around, key=lambda each: each[1])


def reach_by_columns(question: Single, columns: Mapping[str, ColumnCounts], guess: float) -> Reach | None:
    """How far off a guess is at most; None if nothing is known of it."""
    if not isinstance(question, Query) or bounds(question, columns, 0.5) is None:
        return None

    def reach(miss: float) -> float:
        found = bounds(question, columns, miss)
        assert found is not None
        return max(found[1] - guess, guess - found[0], 0.0)

    return reach
