"""How far off an answer can be by what was measured of single columns: no more rows fulfil all conditions than one.

A count of several columns lies between 0 and the rows that any one of its conditions leaves (Frechet); a count of one
column is known as well as that column. Where this says at least as much as a private test of the answer would, there is
nothing to test: narrow questions cost no false alarms, and have narrower intervals. All of it is post-processing.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from core.kernel.query import Query, Single
from core.mechanisms.kit.intervals import Reach
from core.models.column_counts import ColumnCounts


def bounds(question: Query, columns: Mapping[str, ColumnCounts], miss: float) -> tuple[float, float] | None:
    """In rows, the least and the most that the truth can be but for a probability of `miss`; None if nothing is known.

    Each of k columns may fail with probability miss/k.
    """
    known = [(axis, columns[name]) for axis, name in enumerate(question.columns) if name in columns]
    if not known:
        return None
    top, low, high = int(question.weights.max(initial=0)) / question.denominator, 0.0, np.inf
    for axis, counts in known:
        chosen = np.asarray(np.moveaxis(question.weights, axis, 0).reshape(counts.size, -1).any(axis=1))
        rows, reach = counts.sum_of(chosen, miss / len(known))
        high = min(high, max(0.0, rows + reach) * top)
        if len(question.columns) == 1 and (question.weights[chosen] == question.weights.max(initial=0)).all():
            low = max(0.0, rows - reach) * top
    return low, max(low, float(high))


def reach_by_columns(question: Single, columns: Mapping[str, ColumnCounts], guess: float) -> Reach | None:
    """How far off a guess is at most; None if nothing is known of it."""
    if not isinstance(question, Query) or bounds(question, columns, 0.5) is None:
        return None

    def reach(miss: float) -> float:
        found = bounds(question, columns, miss)
        assert found is not None
        return max(found[1] - guess, guess - found[0], 0.0)

    return reach
