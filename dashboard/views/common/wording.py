"""Shares, budgets and moments for people."""

from __future__ import annotations

import math
from typing import SupportsFloat

LINE = 60
"""Letters that a wide column of a grid shows in one line."""
TWO_LINES = 65
"""Pixels of a row from which a grid breaks long texts; a lower one cuts them off."""


def percent(share: float) -> str:
    """
    >>> percent(0.5), percent(0.0004), percent(1.21)
    ('50 %', 'less than 0.1 %', '121 %')
    """
    if share == float("inf"):
        return "more than all"
    if 0 < share < 0.001:
        return "less than 0.1 %"
    return f"{100 * share:.0f} %" if share >= 0.1 or share == 0 else f"{100 * share:.1f} %"


def number(value: SupportsFloat) -> str:
    """
    >>> number(2), number(1e-9)
    ('2', '1e-9')
    """
    return f"{float(value):g}".replace("e-0", "e-")


def purpose(prefer: str) -> str:
    """What a mechanism is for, which tells more than its name to whoever has to choose.

    >>> purpose("Choose it for many tables at once."), purpose("Few answers.")
    ('For many tables at once.', 'Few answers.')
    """
    told = prefer.removeprefix("Choose it ")
    return told[:1].upper() + told[1:]


def at_most(epsilon: float) -> str:
    """Three digits, rounded down: what is shown as possible must be possible.

    >>> at_most(1.6999), at_most(0.0)
    ('1.69', '0')
    """
    if epsilon <= 0:
        return "0"
    digit = 10.0 ** (math.floor(math.log10(epsilon)) - 2)
    return f"{math.floor(epsilon / digit + 1e-9) * digit:.3g}"


def moment(text: str) -> str:
    """A moment of the ledger, to the minute."""
    return f"{text[:10]} {text[11:16]} UTC"


def duration(seconds: float) -> str:
    """A rough time: more digits would claim more than is known.

    >>> duration(0.2), duration(3.4), duration(95), duration(8000)
    ('under a second', 'about 3 s', 'about 2 minutes', 'about 2 hours')
    """
    if seconds < 0.7:
        return "under a second"
    if seconds < 90:
        return f"about {seconds:.0f} s"
    minutes = seconds / 60
    return f"about {minutes:.0f} minutes" if minutes < 90 else f"about {minutes / 60:,.0f} hours"
