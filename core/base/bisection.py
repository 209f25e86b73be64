"""The largest whole number that fits, for whatever is asked of sizes, rounds and prices."""

from __future__ import annotations

from collections.abc import Callable


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
