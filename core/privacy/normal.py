"""The normal distribution with as many digits as the decimal context has, for decisions that floats must not make."""

from __future__ import annotations

from decimal import Context, Decimal, getcontext, localcontext
from functools import lru_cache


def normal_tail(x: Decimal) -> Decimal:
    """The normal tail Q(x) = 1/2 - phi(x) (x + x^3/3 + x^5/(3 5) + ...), x >= 0; all terms are positive.

    The terms are summed until what follows (a geometric series once x^2 < 2n + 3) is beyond the digits in use.
    """
    square, term, total, odd = x * x, x, x, 1
    least = Decimal(10) ** -(getcontext().prec + 5)
    while term > least or square * 2 > odd:
        odd += 2
        term = term * square / odd
        total += term
    return Decimal("0.5") - total * normal_density(x)


def normal_density(x: Decimal) -> Decimal:
    """phi(x) = exp(-x^2/2)/sqrt(2 pi)."""
    return (-x * x / 2).exp() / (2 * _pi(getcontext().prec)).sqrt()


@lru_cache(maxsize=64)
def _pi(digits: int) -> Decimal:
    """pi by Machin's formula."""

    def arctan_of_inverse(x: int) -> Decimal:
        power = total = Decimal(1) / x
        n, sign = 3, -1
        while abs(power) > Decimal(10) ** -(digits + 8):
            power /= x * x
            total += sign * power / n
            n, sign = n + 2, -sign
        return total

    with localcontext(Context(prec=digits + 10)):
        return 4 * (4 * arctan_of_inverse(5) - arctan_of_inverse(239))
