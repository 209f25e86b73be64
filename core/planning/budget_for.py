"""From a needed accuracy to a budget: the smallest epsilon whose errors, as simulated, are small enough.

The same figures as everywhere (`simulation/kept_trials.py`), so nothing private is looked at. A wish is for nine of ten
runs: 'all within' holds in 95 of 100, and an average is judged by the upper end of its band.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, Decimal
from typing import Any, Literal

from core.base.errors import BadParameter, DeskError, Refused
from core.base.wording import rows
from core.planning.better_noise import build
from core.planning.simulation.expected_error import Figure
from core.planning.simulation.kept_trials import Figures
from core.planning.simulation.stand_ins import StandIns
from core.privacy.budget import Budget
from core.queries.kit.protocol import QueryClass

LEAST, MOST = 1e-3, 100.0
"""Epsilons that are tried: below nothing is measured, above nothing is protected."""
FIRST = 1.0
DIGITS = 2
NEAR = 1.15
"""How near an epsilon that is enough and one that is not must be; trials tell no finer."""
STEP = 30.0
"""Largest factor from one epsilon that is tried to the next."""
MOST_STEPS = 3
"""Steps up from a rounded epsilon that turns out not to be enough."""
ErrorKind = Literal["mean", "worst"]


def nine_of_ten(figure: Figure, kind: ErrorKind) -> float:
    """What the error of a run stays within in nine runs of ten, or more: of all questions, or of one on average."""
    return figure.worst if kind == "worst" else figure.high


def budget_for(
    name: str,
    queries: Sequence[QueryClass],
    options: Mapping[str, Any],
    stand_ins: StandIns,
    figures: Figures,
    *,
    within: float,
    delta: float = 0.0,
    error: ErrorKind = "worst",
) -> Budget:
    """The smallest budget, to two digits, at which nine runs of ten err by at most `within` rows.

    `error` 'worst' means all questions at once; 'mean' means a question on average. `stand_ins` have the columns that
    are asked about.
    """
    if isinstance(within, bool) or not isinstance(within, int | float) or not 0 < within < float("inf"):
        raise BadParameter("within", "must be a number of rows above 0.")

    def reached(epsilon: float) -> float:
        made = build(name, queries, Budget(epsilon, delta), options, stand_ins.domain, stand_ins.unit)
        return nine_of_ten(figures.quick(made, stand_ins), error)

    enough = _search(reached, float(within))
    if enough <= LEAST:
        return Budget(LEAST, delta)
    # Trials vary a little, so the epsilon that is told is tried itself.
    for _ in range(MOST_STEPS):
        if reached(float(rounded_up(enough))) <= within:
            break
        enough = min(enough * NEAR, MOST)
    return Budget(rounded_up(enough), delta)


def _search(reached: Any, within: float) -> float:
    """An epsilon that is enough and at most `NEAR` times one that is not."""
    low, high, epsilon = LEAST / NEAR, math.inf, FIRST
    while high / low > NEAR:
        found = _or_refused(reached, epsilon)
        if found <= within:
            high = epsilon
        elif epsilon >= MOST:
            smallest = f"gives errors of {rows(reached(MOST))}"
            raise Refused(
                f"Even epsilon {MOST:g} {smallest}; ask for a larger error, fewer columns or another mechanism."
            )
        else:
            low = epsilon
        # Errors fall about as fast as epsilon grows; between two bounds the middle is safer than that guess.
        guess = epsilon * min(max(found / within, 1 / STEP), STEP) * (1.05 if found > within else 1.0)
        between = math.isfinite(high) and low >= LEAST
        epsilon = (
            math.sqrt(low * high) if between else min(max(guess, LEAST, low * NEAR**0.5), min(high / NEAR**0.5, MOST))
        )
    return high


def _or_refused(reached: Any, epsilon: float) -> float:
    """What refuses a small epsilon may work with a larger one; a refusal of the largest is told."""
    try:
        return float(reached(epsilon))
    except DeskError:
        if epsilon >= MOST:
            raise
        return math.inf


def rounded_up(epsilon: float) -> str:
    """A number a person would type, never below the given one.

    >>> rounded_up(0.23456), rounded_up(12.001)
    ('0.24', '13')
    """
    number = Decimal(repr(epsilon))
    place = Decimal(1).scaleb(number.adjusted() - DIGITS + 1)
    return f"{number.quantize(place, rounding=ROUND_CEILING).normalize():f}"
