"""Which mechanisms serve a class of questions, asked of themselves."""

from __future__ import annotations

import math
from collections.abc import Sequence

from core.base.errors import DeskError
from core.mechanisms.kit.protocol import Mechanism
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.kit.protocol import QueryClass
from core.registry import mechanism_from, offline
from core.schema.domain import Domain

QUICK = 1.5
"""Seconds of a run, as a mechanism tells them, up to which a page that waits for it runs it."""


def serving(
    queries: Sequence[QueryClass], domain: Domain, unit: Unit, epsilon: float, most_seconds: float = math.inf
) -> dict[str, Mechanism]:
    """Mechanisms that would run with pure noise, by name, as they come without any option."""
    found = {}
    for name in offline:
        mechanism = mechanism_from(name, tuple(queries), Budget(epsilon, 0), {})
        try:
            mechanism.check(domain, unit)
            if mechanism.seconds(domain, unit) > most_seconds:
                continue
        except DeskError:
            continue
        found[name] = mechanism
    return found
