"""Rational numbers instead of e^epsilon, so that every probability of a randomiser is a fraction of whole numbers.

A randomiser whose output is at most `ratio` times as likely from one answer as from another is ln(ratio)-locally
private. The ratio is the largest fraction of 30 bits that does not exceed e^epsilon, so the promise holds exactly and
the loss of accuracy is below one in 10^8. Thirty bits also keep every bound that a browser draws below 2^53.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

from core.base.errors import BadParameter
from core.privacy.budget import exact

BITS = 30
LEAST, MOST = Fraction(1, 1000), Fraction(20)
"""Below the least nobody's answer could ever be heard; above the most nothing is protected."""


@lru_cache(maxsize=256)
def ratio_below(epsilon: Fraction) -> Fraction:
    """The largest fraction a/2^s of 30 bits with a/2^s <= e^epsilon.

    >>> ratio_below(Fraction(1)) < Fraction(27182818284591, 10**13)
    True
    """
    amount = checked(epsilon)
    low, _ = _bracket(amount, 60)
    shift = max(0, BITS - (int(low).bit_length()))
    return Fraction(int(low * 2**shift), 2**shift)


def checked(epsilon: object) -> Fraction:
    """An epsilon for one person, as a fraction."""
    amount = exact(epsilon, "epsilon")
    if not LEAST <= amount <= MOST:
        raise BadParameter("epsilon", "must be from 0.001 to 20 for one person; try 1.")
    return amount


def within(ratio: Fraction, epsilon: Fraction) -> bool:
    """Whether ratio <= e^epsilon, decided exactly: e^epsilon is irrational, so enough digits always tell."""
    if epsilon == 0:
        return ratio <= 1
    digits = 40
    while True:
        low, high = _bracket(epsilon, digits)
        if ratio <= low or ratio > high:
            return ratio <= low
        digits *= 2


def _bracket(power: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Fractions on both sides of e^power: the exponential is rounded correctly, and its argument to either side."""
    ends = []
    for rounding, step in ((ROUND_FLOOR, -1), (ROUND_CEILING, 1)):
        with localcontext(Context(prec=digits, rounding=rounding)) as context:
            value = (Decimal(power.numerator) / Decimal(power.denominator)).exp()
            # Decimal.exp rounds half-even whatever the context says: one unit more makes the end certain.
            ends.append(Fraction(context.next_minus(value) if step < 0 else context.next_plus(value)))
    return ends[0], ends[1]
