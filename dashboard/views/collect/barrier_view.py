"""What the local model cannot do, as a curve: parities from conjunctions."""

from __future__ import annotations

import streamlit as st

from core.local.barrier import MeasuredBarrier, measured_barrier
from core.theory.local import conjunction_queries, hidden_parity
from dashboard.views.collect import collect_charts
from dashboard.views.common import messages

PEOPLE, MOST_BITS, BITS = 20_000, 7, 100


TITLE = "What trusting nobody costs"


def show() -> None:
    """Computed when it is unfolded: it is read once, and takes a second."""
    part = st.expander(TITLE, icon=":material/school:", key="collect-barrier-open", on_change="rerun")
    if part.open:
        with part:
            _curve()


def _curve() -> None:
    st.write(
        "People who randomise themselves can answer few questions well. A parity (do an odd number of these s "
        "things hold?) can be computed from the answers to all conjunctions (do all of these things hold?), but "
        "every small error counts up to (3^s − 1)/2 times, and parities are out of reach of local algorithms."
    )
    figure, alt = collect_charts.barrier(_runs())
    st.plotly_chart(figure, alt=alt, key="collect-barrier", config={"displayModeBar": False})
    messages.note(f"{PEOPLE:,} invented people, ε 1; one run, logarithmic.", "public")
    lines = [
        f"an error of {100 * error:g} %: parities of {hidden_parity(error)} bits, at least "
        f"{conjunction_queries(BITS, error):,.0f} statistical queries"
        for error in (0.05, 0.005, 0.0005)
    ]
    messages.note(f"Conjunctions of {BITS} columns released to {'; '.join(lines)} (theorems 34 to 38).", "public")


@st.cache_resource(show_spinner="Asking invented people …")
def _runs() -> list[MeasuredBarrier]:
    """The same for every visitor: nobody's data is in it."""
    return [measured_barrier(1, PEOPLE, bits) for bits in range(1, MOST_BITS + 1)]
