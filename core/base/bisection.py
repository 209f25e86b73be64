"""Bisection: the largest whole number that fits, and the place on a line at which something begins to hold."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import TypeVar

Real = TypeVar("Real", float, Fraction, Decimal)


def largest_that_fits(
    fits: Callable[[int], bool], *, start: int = 1, most: int | None = None, bits: int | None = None
) -> int:
    """The largest whole number that fits, up to `most`; 0 where not even 1 does.

    Whatever is smaller than a number that fits must fit too; only numbers above 0 are tried. The search doubles from
    `start` and then halves the gap. With `bits` it stops when the gap is that part of the result, 2^-bits of it; what
    it returns has been tried all the same.

    >>> largest_that_fits(lambda number: number**2 <= 1000)
    31
    >>> largest_that_fits(lambda number: number**2 <= 1000, most=20)
    20
    """
    low, high = 0, start
    while (most is None or high <= most) and fits(high):
        low, high = high, 2 * high
    if most is not None:
        high = min(high, most + 1)
    while high - low > max(1, 0 if bits is None else low >> bits):
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def narrowed(holds: Callable[[Real], bool], fails: Real, holding: Real, *, halvings: int) -> tuple[Real, Real]:
    """A gap between a number at which something fails and one at which it holds, halved so many times.

    Either may be the larger. Neither end is tried again: what comes back is what was given, or has been tried.

    >>> narrowed(lambda number: number**2 <= 2, 2.0, 1.0, halvings=3)
    (1.5, 1.375)
    """
    for _ in range(halvings):
        middle = (fails + holding) / 2
        fails, holding = (fails, middle) if holds(middle) else (middle, holding)
    return fails, holding
