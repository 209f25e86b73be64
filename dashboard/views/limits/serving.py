"""Every mechanism that serves the class of a lower bound, as they say themselves, run on its construction."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TypeVar

from core.attacks.invented import Construction
from core.base.errors import DeskError
from core.mechanisms.kit.protocol import Mechanism
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.registry import mechanism_from, offline

QUICK = 1.5
"""Seconds of a run, as a mechanism tells them, up to which a page that waits for it runs it."""


C = TypeVar("C", bound=Construction)
R = TypeVar("R")
UNIT = Unit.row("replace")


def runs_of(
    construction: C, epsilon: float, run: Callable[[C, Mechanism], R], most_seconds: float = math.inf
) -> dict[str, R]:
    """One run of every mechanism that serves a construction with pure noise, by name, as it comes without options."""
    return {name: run(construction, mechanism) for name, mechanism in _serving(construction, epsilon, most_seconds)}


def _serving(construction: Construction, epsilon: float, most_seconds: float) -> Iterator[tuple[str, Mechanism]]:
    domain = construction.domain
    for name in offline:
        mechanism = mechanism_from(name, (construction.queries,), Budget(epsilon, 0), {})
        try:
            mechanism.check(domain, UNIT)
            if mechanism.seconds(domain, UNIT) <= most_seconds:
                yield name, mechanism
        except DeskError:
            continue
