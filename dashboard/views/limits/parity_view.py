"""The worst parity of every mechanism that serves parities."""

from __future__ import annotations

import streamlit as st

from core.attacks.worst_parity import DistinctRecords, ParityError, attacked
from dashboard.views.common import messages
from dashboard.views.common.wording import percent
from dashboard.views.limits import bound_charts
from dashboard.views.limits.serving import runs_of

ROWS, EPSILONS = (16, 32, 64), (0.1, 0.5, 1.0, 3.0)
START = 32


def show() -> None:
    st.write(
        "Records are rows of yes and no; a parity counts the rows with an even number of yes among some columns. All "
        "parities together name the records, so every private table of synthetic records gets some parity wrong by at "
        "least 1/(2 √n), although any single one could be told more exactly (Blum, Ligett and Roth 2008, theorem A.6)."
    )
    left, right = st.columns(2)
    rows = left.select_slider("Rows (n), all different", ROWS, START, key="limits-parity-rows")
    epsilon = right.select_slider("Epsilon (ε)", EPSILONS, 1.0, key="limits-parity-epsilon")
    found = _attacked(rows, epsilon)
    records = _records(rows)
    figure, alt = bound_charts.parities({name: one.worst for name, one in found.items()}, records.bound)
    st.plotly_chart(figure, alt=alt, key="limits-parity", config={"displayModeBar": False})
    messages.note(
        f"One release of {rows} synthetic records by each mechanism that takes parities, of {rows} different records "
        f"among {2**records.facts:,}; at most {percent(max(one.shared for one in found.values()))} of the secret "
        "records were among them.",
        "public",
    )


def _records(rows: int) -> DistinctRecords:
    return DistinctRecords(rows=rows, facts=rows.bit_length() + 2)


@st.cache_resource(show_spinner="Releasing invented tables …", max_entries=50)
def _attacked(rows: int, epsilon: float) -> dict[str, ParityError]:
    return runs_of(_records(rows), epsilon, attacked)
