"""Whether a release is measured unless somebody says otherwise, from public facts alone."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from core.base.errors import DeskError
from core.mechanisms.measured.measuring import ErrorMeasuring
from core.privacy.budget import Budget
from core.privacy.spendable import rho_for
from core.privacy.unit import Unit
from core.queries.kit.focus import asked_columns
from core.queries.kit.protocol import QueryClass
from core.schema.domain import Domain

USUAL = Fraction(1, 50)
"""Of the budget: it makes the noise of the release 1 or 2 % larger."""
INFORMATIVE = 0.02
"""Noise of the figures, as a part of the rows, up to which they tell something."""


def usual_measure(
    queries: Sequence[QueryClass], budget: Budget, domain: Domain, unit: Unit, rows: int | None
) -> Fraction:
    """The usual part of the budget for measuring, or none where its figures would be mostly noise.

    `rows` is the number of rows as far as it is public: what the table has is private, so None where nothing is known.
    """
    if rows is None:
        return Fraction(0)
    try:
        amount = budget.epsilon if budget.pure else rho_for(budget)
        measuring = ErrorMeasuring(queries=tuple(queries), amount=amount * USUAL, pure=budget.pure)
        focus = asked_columns(queries, domain)
        measuring.check(focus, unit)
    except DeskError:
        # What is wrong with a choice is said where it is priced.
        return Fraction(0)
    return USUAL if measuring.noise(focus, unit) <= INFORMATIVE * rows else Fraction(0)
