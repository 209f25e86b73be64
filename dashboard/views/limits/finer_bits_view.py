"""The error of intervals on a column of ever finer bits."""

from __future__ import annotations

import math

import streamlit as st

from core.attacks.finer_bits import IntervalError, SecretValue, released
from core.base.wording import amount
from core.theory.intervals import IntervalsBound
from core.theory.lower_bounds import finest_bits, packing
from dashboard.views.common import messages
from dashboard.views.common.wording import percent
from dashboard.views.limits import bound_charts
from dashboard.views.limits.serving import QUICK, UNIT, runs_of

ROWS, EPSILONS, ALPHAS = (100, 1_000, 10_000), (0.1, 0.5, 1.0, 3.0), (0.01, 0.05, 0.1, 0.2, 0.4)
BITS = (4, 8, 12, 16)
MOVED = 0.6
"""Share of the rows at the secret value: more than half, so that it is the median."""


def show() -> None:
    st.write(
        "Most of the rows are at one secret value of a column. Whoever answers all intervals well names the value, and "
        "whoever finds the median does; the finer the column, the more values it could be, and the more noise is "
        "needed. On real numbers no private method answers intervals at all (Blum, Ligett and Roth 2008, theorem 5.1)."
    )
    left, middle, right = st.columns(3)
    rows = left.select_slider("Rows", ROWS, 1_000, format_func=amount, key="limits-bits-rows")
    epsilon = middle.select_slider("Epsilon (ε)", EPSILONS, 0.5, key="limits-bits-epsilon")
    alpha = right.select_slider("Error (α) that is wanted", ALPHAS, 0.05, key="limits-bits-alpha")
    measured = _measured(rows, epsilon)
    promised = [IntervalsBound(bits=bits).error(rows, epsilon) for bits in BITS]
    least = [packing(math.log(2**bits - 1), epsilon, UNIT, rows) / rows for bits in BITS]
    lost = finest_bits(alpha, epsilon, rows)
    errors = {name: [each.worst if each else None for each in found] for name, found in measured.items()}
    figure, alt = bound_charts.by_bits(BITS, errors, promised, least, lost, alpha)
    st.plotly_chart(figure, alt=alt, key="limits-bits", config={"displayModeBar": False})
    last = {name: found[-1] for name, found in measured.items() if found[-1] is not None}
    best = min(last, key=lambda name: last[name].worst)
    messages.note(
        f"One run of every mechanism that takes intervals and is quick enough; by a binary search over "
        f"its answers '{best}' gives a median whose rank is off by {percent(last[best].median)} at {BITS[-1]} bits. An "
        f"error of {percent(alpha)} is lost for every method from {math.floor(lost) + 1:,} bits on.",
        "public",
    )


@st.cache_resource(show_spinner="Releasing invented tables …", max_entries=50)
def _measured(rows: int, epsilon: float) -> dict[str, list[IntervalError | None]]:
    """By mechanism, for each number of bits; None where it refuses or would be slow."""
    found: dict[str, list[IntervalError | None]] = {}
    for place, bits in enumerate(BITS):
        secret = SecretValue(bits=bits, rows=rows, moved=round(MOVED * rows))
        for name, error in runs_of(secret, epsilon, released, QUICK).items():
            found.setdefault(name, [None] * len(BITS))[place] = error
    return found
