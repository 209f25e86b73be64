"""Combinatorial dimensions: how rich a class of questions is, exactly or between certified bounds."""

from __future__ import annotations

from core.base.errors import BadParameter
from core.queries.kit.protocol import Dimension


def exactly(value: int, why: str) -> Dimension:
    return Dimension(low=value, high=value, why=why)


def between(low: int, size: int, why: str) -> Dimension:
    """From a certified lower bound up to log2 of the number of questions (F observation 1)."""
    return Dimension(low=low, high=size.bit_length() - 1, why=why)


def fat_of_predicates(vc: Dimension, gamma: float) -> Dimension:
    """Fat-shattering dimension of a class of 0/1 functions (F section 2.1).

    Values 0 and 1 lie gamma above and below a level r exactly when gamma <= min(r, 1 - r); r = 1/2 allows every gamma
    up to 1/2, and no level allows more.
    """
    if scale(gamma) > 0.5:
        return exactly(0, "answers lie between 0 and 1, so nothing is shattered at a scale above 1/2")
    return Dimension(low=vc.low, high=vc.high, why=f"a class of predicates, so equal to its VC dimension: {vc.why}")


def scale(gamma: float) -> float:
    if not (isinstance(gamma, int | float) and gamma > 0):
        raise BadParameter("gamma", "must be a scale above 0; answers differ by at most 1, so use at most 1/2.")
    return float(gamma)


def packed(columns: int, order: int, spare: int) -> int:
    """Most points shattered by the block construction for conjunctions of at most `order` of `columns` literals.

    Split the columns into `order` groups. A group with one column for each subset of m points, true on exactly that
    subset and on all points of the other groups, labels its m points freely. The subset of all m points needs no column
    where a literal may be left out (`spare` 1). Giving the cheapest group one more point at a time is optimal, because
    the price of a point grows with the group (Littlestone 1988 has equal groups).
    """
    groups = min(order, columns)
    if groups < 1:
        return 0
    left = columns if spare else columns - groups
    size, points = 0, 0
    while left >= (price := 2**size):
        bought = min(groups, left // price)
        points, left = points + bought, left - bought * price
        if bought < groups:
            break
        size += 1
    return points
