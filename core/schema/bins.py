"""How many bins a range deserves, by its bounds alone: steps of round numbers, whole weeks, months or years.

Noise is added to every bin, so a hundred of them say as much as a table of ordinary length can support, and a range of
few values needs none.
"""

from __future__ import annotations

import math
from datetime import date

from core.schema.spellings import days

MOST = 100
"""Bins that are proposed at most."""
FEW = 150
"""Whole numbers or days up to here stay as they are: ages are not cut."""
MOST_DECIMALS = 15
_STEPS = (1, 2, 5)
_CALENDAR = (7.0, 365.25 / 12, 365.25)


def propose(kind: str, low: object, high: object) -> int | None:
    """Bins for a column with these bounds; None where each value may stay by itself, or there are no such bounds.

    >>> propose("integers", 0, 120), propose("integers", 0, 199_999), propose("reals", 0, 37.5)
    (None, 100, 75)
    >>> propose("dates", "2020-01-01", "2024-12-31")
    60
    """
    if kind == "dates":
        return _days(low, high)
    try:
        span = float(str(high)) - float(str(low))
    except ValueError:
        return None
    if kind not in ("integers", "reals") or not math.isfinite(span) or span <= 0:
        return None
    if kind == "integers":
        return None if span + 1 <= FEW else _round(span + 1)
    return _round(span)


def propose_decimals(low: object, high: object, bins: object) -> int | None:
    """Decimals that tell some hundred values of a bin apart; more would be made up. None where there are no such bins.

    >>> propose_decimals(0, 20_000, 20), propose_decimals(0, 80, 16), propose_decimals("-90", "90", 90)
    (0, 2, 2)
    """
    try:
        width = (float(str(high)) - float(str(low))) / int(str(bins))
    except (ValueError, ZeroDivisionError):
        return None
    if not (math.isfinite(width) and width > 0):
        return None
    return min(MOST_DECIMALS, max(0, 2 - math.floor(math.log10(width))))


def _round(span: float) -> int:
    """Steps of the smallest round length of which at most so many are needed."""
    power = math.floor(math.log10(span / MOST))
    lengths = (step * 10.0**exponent for exponent in range(power, power + 3) for step in _STEPS)
    length = next(length for length in lengths if round(span / length) <= MOST)
    return max(1, round(span / length))


def _days(low: object, high: object) -> int | None:
    found = [days(bound) if isinstance(bound, str | date) else None for bound in (low, high)]
    if any(bound is None or math.isnan(bound) for bound in found):
        return None
    span = float(found[1] or 0.0) - float(found[0] or 0.0) + 1
    if span <= FEW:
        return None
    counts = (round(span / length) for length in _CALENDAR)
    return next((count for count in counts if 1 <= count <= FEW), _round(span / _CALENDAR[-1]))
