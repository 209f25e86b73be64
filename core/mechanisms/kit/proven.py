"""What a theorem promises about a run: an optional ability of a mechanism."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from core.base.errors import BadParameter
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.schema.domain import Domain
from core.theory.bound import Bound


@runtime_checkable
class Proven(Protocol):
    """A mechanism with a theorem about the very parameters that run."""

    def promise(self, domain: Domain, unit: Unit, rows: int) -> float | None:
        """The error in rows that no answer exceeds, 95 % of the time, on a table of so many rows.

        None where the theorem promises nothing: for too few rows, or with options that it does not speak of.
        """


def promised_at(accuracy: float, bound: Bound, budget: Budget, unit: Unit, rows: int) -> float | None:
    """What a theorem promises to a run that was laid out for this accuracy: that one, or nothing.

    A theorem speaks of one row per person; where a person may hold several, it is asked with so many times fewer rows.
    """
    try:
        enough = bound.holds(alpha=accuracy, rows=max(1, rows // unit.limit), epsilon=float(budget.epsilon))
    except BadParameter:
        return None
    return accuracy * rows if enough else None
