"""Numbers for people."""

from __future__ import annotations

import math


def amount(number: int) -> str:
    """A whole number of any size: with separators, or as a power of ten once those stop helping.

    >>> amount(12345), amount(10**30)
    ('12,345', 'about 10^30')
    """
    return f"{number:,}" if abs(number) < 10**12 else f"about 10^{math.floor(math.log10(abs(number)))}"


def plural(number: int, noun: str) -> str:
    """
    >>> plural(1, "table"), plural(66, "table")
    ('1 table', '66 tables')
    """
    return f"{amount(number)} {noun}{'' if number == 1 else 's'}"


def rows(number: float) -> str:
    """A number of rows, which need not be whole: one decimal below ten.

    >>> rows(3.14159), rows(1234.5)
    ('3.1 rows', '1,234 rows')
    """
    return f"{number:.1f} rows" if number < 10 else f"{number:,.0f} rows"


def figure(number: float) -> str:
    """A figure to four digits, without powers of ten up to a billion.

    >>> figure(11738.4), figure(0.123456), figure(9.5)
    ('11,740', '0.1235', '9.5')
    """
    return f"{float(f'{number:.4g}'):,.10g}"
