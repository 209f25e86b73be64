"""Released counts of one or two columns, as a figure."""

from __future__ import annotations

import streamlit as st

from core.base.wording import amount
from core.release.release import Release
from dashboard.views.common import charts, messages


def show(release: Release, plan_id: str) -> None:
    names = list(release.domain.names)
    first = list(next(iter(release.tables), tuple(names[:1])))[:2]
    columns = st.multiselect(
        "Columns to draw", names, default=first, max_selections=2, key=f"draw-{plan_id}",
        help="One column gives bars, two give a heat map.",
    )  # fmt: skip
    if not columns:
        return
    cells = release.domain.cells(columns)
    if cells > charts.MOST_CELLS:
        st.info(f"{amount(cells)} counts are too many to draw; download the noisy tables instead.")
        return
    messages.note(
        "Estimated counts: from the released tables that hold these columns, else from the records.", "released"
    )
    figure, alt = charts.counts(release.domain, columns, release.marginal(columns))
    st.plotly_chart(figure, alt=alt, key=f"chart-{plan_id}", config={"displaylogo": False})
