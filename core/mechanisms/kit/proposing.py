"""Options in the place of usual ones that cannot be kept: an optional ability of an interactive mechanism."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from core.privacy.unit import Unit
from core.schema.domain import Domain

STEPS = tuple(place / 20 for place in range(1, 20))
"""Target errors that are proposed: a person would not type a finer one."""


@runtime_checkable
class Proposing(Protocol):
    """A mechanism whose usual options do not fit every schema and budget."""

    def proposed(self, domain: Domain, unit: Unit) -> dict[str, Any]:
        """Options that can be kept, from public facts only; empty where those of the mechanism can be."""


def target_error(kept: Callable[[float], bool]) -> dict[str, Any]:
    """The smallest proposed target error that can be kept; nothing if none can.

    >>> target_error(lambda alpha: alpha > 0.066), target_error(lambda alpha: False)
    ({'alpha': 0.1}, {})
    """
    return next(({"alpha": alpha} for alpha in STEPS if kept(alpha)), {})
