"""From a needed accuracy to a budget: the smallest epsilon whose expected error is small enough.

Everything follows from the schema, the unit and the mechanism; no data is looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, Decimal
from typing import Any, Literal

from core.base.errors import BadParameter, Refused
from core.base.wording import rows
from core.mechanisms.kit.protocol import Expected
from core.planning.better_noise import build
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.kit.focus import asked_columns
from core.queries.kit.protocol import QueryClass
from core.schema.domain import Domain

LEAST, MOST = 1e-3, 100.0
"""Epsilons that are tried: below nothing is measured, above nothing is protected."""
DIGITS = 2
Measure = Literal["mean", "worst"]


def expected(
    name: str, queries: Sequence[QueryClass], budget: Budget, options: Mapping[str, Any], domain: Domain, unit: Unit
) -> Expected:
    """The error to expect of a mechanism with the better noise, or its refusal."""
    focus = asked_columns(queries, domain)
    return build(name, queries, budget, options, focus, unit).expected(focus, unit)


def budget_for(
    name: str,
    queries: Sequence[QueryClass],
    options: Mapping[str, Any],
    domain: Domain,
    unit: Unit,
    *,
    within: float,
    delta: float = 0.0,
    measure: Measure = "worst",
) -> Budget:
    """The smallest budget, to two digits, at which the mechanism expects errors of at most `within` rows.

    `measure` 'worst' means all counts at once, 95 % of the time; 'mean' means the average count.
    """
    if isinstance(within, bool) or not isinstance(within, int | float) or not 0 < within < float("inf"):
        raise BadParameter("within", "must be a number of rows above 0.")

    def error(epsilon: float) -> float:
        return float(getattr(expected(name, queries, Budget(epsilon, delta), options, domain, unit), measure))

    if error(MOST) > within:
        raise Refused(
            f"Even epsilon {MOST:g} gives errors of {rows(error(MOST))}; ask for a larger error, fewer columns or "
            "another mechanism."
        )
    low, high = LEAST, MOST
    if error(low) <= within:
        return Budget(LEAST, delta)
    while high / low > 1.002:
        middle = (low * high) ** 0.5
        low, high = (low, middle) if error(middle) <= within else (middle, high)
    return Budget(rounded_up(high), delta)


def rounded_up(epsilon: float) -> str:
    """A number a person would type, never below the given one.

    >>> rounded_up(0.23456), rounded_up(12.001)
    ('0.24', '13')
    """
    number = Decimal(repr(epsilon))
    place = Decimal(1).scaleb(number.adjusted() - DIGITS + 1)
    return f"{number.quantize(place, rounding=ROUND_CEILING).normalize():f}"
