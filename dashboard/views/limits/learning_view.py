"""What is learnable is releasable, and what privacy adds, with the numbers filled in."""

from __future__ import annotations

import math

import streamlit as st

from core.base.wording import amount
from core.privacy.unit import Unit
from core.theory.lower_bounds import packing
from core.theory.smalldb import SmallDbVcBound
from dashboard.views.common import messages

ALPHAS, EPSILONS, DIMENSIONS = (0.01, 0.05, 0.1, 0.2), (0.1, 0.5, 1.0, 3.0), (1, 2, 3, 5, 10, 50)
BITS = (8, 16, 32, 64)


def show() -> None:
    st.write(
        "What can be learned from a sample can be learned, and released, privately: from more rows, but not without "
        "limit (Kasiviswanathan, Lee, Nissim, Raskhodnikova and Smith 2008; Blum, Ligett and Roth 2008, section 3)."
    )
    one, two, three, four = st.columns(4)
    vc = one.select_slider("VC dimension", DIMENSIONS, 3, key="limits-learn-vc")
    bits = two.select_slider("Bits of a record", BITS, 16, key="limits-learn-bits")
    alpha = three.select_slider("Error (α)", ALPHAS, 0.05, key="limits-learn-alpha")
    epsilon = four.select_slider("Epsilon (ε)", EPSILONS, 1.0, key="limits-learn-epsilon")
    theorem = SmallDbVcBound(log_universe=bits * math.log(2), vc=vc)
    sample, private = theorem.size(2 * alpha), theorem.rows(alpha, epsilon)
    st.markdown(
        f"- **Without privacy** some {amount(sample)} rows of any table, however large, have every share of the class "
        f"to within {alpha:g}.\n"
        f"- **With privacy** {amount(private)} rows are enough for a synthetic table that is as good at ε {epsilon:g} "
        f"(theorem 3.1): {private / sample:,.0f} times as many, a factor that grows as the bits over ε α.\n"
        f"- **Not with fewer than** {amount(_least(bits, alpha, epsilon))} rows, whatever the method, if the class "
        f"tells all {bits}-bit values apart, as intervals do (packing, the finite form of theorem 5.1).\n"
        f"- **The converse** for tables of records: all parities to within {alpha:g} need at least "
        f"{amount(math.ceil(1 / (4 * alpha**2)))} rows, so no theorem of this kind can do with fewer than 1/α² "
        "(theorem A.6); and what cannot be learned from a sample at all, because its dimension is infinite, cannot be "
        "released either: a private release would be a learner."
    )
    messages.note("Constants are those of the proofs; 95 % of the runs, for the worst table.", "public")


def _least(bits: int, alpha: float, epsilon: float) -> int:
    """Rows below which packing rules alpha out: it forbids an error below so many rows, however many there are."""
    forbidden = packing(math.log(2**bits - 1), epsilon, Unit.row("replace"), 10**9)
    return max(1, math.floor(forbidden / alpha))
