"""VC dimension and fat-shattering dimension: exact for small finite classes, certified bounds for the rest.

A class is a matrix, one line per query and one column per possible record. A set of columns is gamma-shattered if there
is a witness r for each of them so that every pattern of 'at least r + gamma' and 'at most r - gamma' is some query's
(F section 2.1). For a class of predicates and gamma = 1/2 that is shattering, and the dimension is Vapnik and
Chervonenkis's.

**The search.** For a column only finitely many witnesses differ: r = v + gamma for a value v that occurs there. Each
makes a three-valued column: at most v, at least v + 2 gamma, neither. Two witnesses of one column are never shattered
together, so the search may treat them as separate columns. It adds one column at a time and drops the queries that are
neither there; a set with 2^s patterns can grow by j columns only if each pattern still has 2^j queries.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.base.errors import BadParameter
from core.queries.kit.protocol import Dimension

MOST_STEPS = 100_000
"""Column sets tried before the search settles for bounds: some seconds for thousands of queries."""
_TOLERANCE = 1e-12
"""Weights are compared up to this: 0.1 + 2 * 0.1 is to count as 0.3."""
_LOW, _HIGH, _NEITHER = 0, 1, 2


def vc_dimension(matrix: NDArray[Any], most_steps: int = MOST_STEPS) -> Dimension:
    """VC dimension of predicates given as a matrix of 0 and 1, members times points.

    >>> import numpy as np
    >>> vc_dimension(np.array([[0, 0], [0, 1], [1, 0], [1, 1]])).high
    2
    """
    weights = _weights(matrix)
    if not np.isin(weights, (0.0, 1.0)).all():
        raise BadParameter("matrix", "must hold only 0 and 1; for weights in between use the fat-shattering dimension.")
    found = fat_dimension(weights, 0.5, most_steps)
    if found.exact:
        return found
    members, points = np.unique(weights, axis=0).shape[0], np.unique(weights, axis=1).shape[1]
    least = _sauer(members, points)
    return found if least <= found.low else Dimension(least, found.high, f"{found.why}; from below: Sauer and Shelah")


def fat_dimension(matrix: NDArray[Any], gamma: float, most_steps: int = MOST_STEPS) -> Dimension:
    """Fat-shattering dimension at scale gamma of linear queries given as weights from 0 to 1, members times points.

    **Runtime** exponential in the dimension; after `most_steps` column sets it returns what is certain by then: the
    largest shattered set seen, and log2 of the number of distinct queries.
    """
    weights = np.unique(np.unique(_weights(matrix), axis=0), axis=1)
    if not 0 < gamma <= 0.5:
        raise BadParameter("gamma", "must be above 0 and at most 0.5.")
    columns = np.unique(_three_valued(weights, gamma), axis=1)
    search = _Search(columns, most_steps)
    most = min(math.floor(math.log2(weights.shape[0])), weights.shape[1])
    if search.finished or search.best == most:
        return Dimension(search.best, search.best, "every set of possible records was tried")
    return Dimension(search.best, most, "from above: log2 of the number of queries; from below: a shattered set")


def finite_class(log_queries: float, log_universe: float = math.inf) -> Dimension:
    """Bounds on a VC or fat-shattering dimension from sizes alone (F observation 1): log2|Q|, and |X|."""
    if not log_queries >= 0 or not log_universe >= 0:
        raise BadParameter("log_queries", "must be the natural logarithm of at least one query.")
    high = log_queries / math.log(2)
    if log_universe < 700:
        high = min(high, math.exp(log_universe))
    # A logarithm of 2^k may come out just below k.
    whole = math.floor(high + 1e-9) if math.isfinite(high) else high
    return Dimension(0, whole, "at most log2 of the number of queries, and of points")


def sauer_shelah(log_queries: float, points: int) -> int:
    """The smallest VC dimension a class of that many different predicates on so many points can have.

    |Q| <= C(n, 0) + ... + C(n, d) for every class of dimension d (Sauer 1972, Shelah 1972).
    """
    if not 0 <= log_queries <= points * math.log(2) + 1e-9:
        raise BadParameter("log_queries", "must be at least 0, and no more predicates than 2^points differ.")
    total, term = 1, 1
    for dimension in range(points + 1):
        if math.log(total) >= log_queries - 1e-9:
            return dimension
        term = term * (points - dimension) // (dimension + 1)
        total += term
    return points


def _sauer(members: int, points: int) -> int:
    return sauer_shelah(math.log(members), points)


def _weights(matrix: NDArray[Any]) -> NDArray[np.float64]:
    weights = np.asarray(matrix, dtype=np.float64)
    if weights.ndim != 2 or 0 in weights.shape:
        raise BadParameter("matrix", "must have at least one query (line) and one possible record (column).")
    if not (weights >= 0).all() or not (weights <= 1).all():
        raise BadParameter("matrix", "must hold weights from 0 to 1.")
    return weights


def _three_valued(weights: NDArray[np.float64], gamma: float) -> NDArray[np.int64]:
    """A column of low, high, neither for each column and each witness that is not weaker than another one."""
    found = []
    for column in weights.T:
        last_high = -1
        for value in np.unique(column)[::-1]:
            high = column >= value + 2 * gamma - _TOLERANCE
            # A smaller value with the same high queries has fewer low ones.
            if high.sum() > max(last_high, 0):
                last_high = int(high.sum())
                found.append(np.where(column <= value + _TOLERANCE, _LOW, np.where(high, _HIGH, _NEITHER)))
    return np.array(found, dtype=np.int64).T if found else np.zeros((len(weights), 0), dtype=np.int64)


class _Search:
    """Depth first over sets of three-valued columns."""

    def __init__(self, columns: NDArray[np.int64], most_steps: int) -> None:
        self.best = 0
        self._columns = columns
        self._left = most_steps
        members, count = columns.shape
        self._extend(np.arange(members), np.zeros(members, dtype=np.int64), 0, 0, count)

    @property
    def finished(self) -> bool:
        return self._left > 0

    def _extend(self, members: NDArray[np.int64], patterns: NDArray[np.int64], size: int, start: int, end: int) -> None:
        """Try to add each later column to a shattered set; `patterns` is what each remaining member says on the set."""
        for place in range(start, end):
            if not self.finished:
                return
            self._left -= 1
            said = self._columns[members, place]
            kept = said != _NEITHER
            grown = 2 * patterns[kept] + said[kept]
            fewest = int(np.bincount(grown, minlength=2 ** (size + 1)).min())
            if fewest == 0:
                continue
            self.best = max(self.best, size + 1)
            room = min(math.floor(math.log2(fewest)), end - place - 1)
            if size + 1 + room > self.best:
                self._extend(members[kept], grown, size + 1, place + 1, end)
