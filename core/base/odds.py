"""Epsilon in words: how much a release may change what somebody believes about one person."""

from __future__ import annotations

import math

HARM = {
    "High: health, income, convictions": (0.1, 1e-9),
    "Medium: opinions, habits, school marks": (1.0, 1e-9),
    "Low: what a stranger could see": (3.0, 1e-9),
}
"""Budgets to start from, by the harm that knowing a person's row would do; the curator decides."""


def odds(epsilon: float) -> str:
    """The strongest change of an even bet, as a sentence.

    >>> odds(1.0)
    'Whoever thinks it as likely as not that a person is in the table is at most 73 % sure after seeing the release.'
    """
    # Never rounded up to certainty; beyond that point nothing is protected anyway.
    sure = 1 / (1 + math.exp(-epsilon))
    text = f"{100 * sure:.0f}" if sure < 0.99 else f"{min(100 * sure, 99.99):.4g}"
    return (
        f"Whoever thinks it as likely as not that a person is in the table is at most {text} % sure after seeing the "
        "release."
    )
