"""What bins would look like after noise, while they are being chosen: on invented rows, never on the table."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from core.base.wording import plural, rows
from core.planning.column_preview import ColumnPreview, preview_column
from core.planning.simulation.stand_ins import FIRST_GUESS
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.schema.attributes import Attribute
from core.schema.domain import Domain
from dashboard.views.common import charts, messages

PARTS = {"all of the budget": 1, "a tenth of it": 10, "a hundredth of it": 100}
MOST_BINS = 400
"""Bins that are drawn."""
FEW_BINS = 40


def show(domain: Domain, unit: Unit | None, total: Budget | None) -> None:
    # Drawn when it is wanted: it would cost every click on the page, and a figure in a closed box has no size.
    if st.toggle("Show how exact these bins would be", key="preview-bins"):
        if unit is None or total is None:
            st.info("Choose first whose privacy is protected, and the total budget.", icon=":material/person:")
            return
        small = [attribute.name for attribute in domain if attribute.size <= MOST_BINS]
        if not small:
            st.info(f"No column has at most {MOST_BINS} cells; use bins.", icon=":material/bar_chart:")
            return
        left, middle, right = st.columns(3)
        name = left.selectbox("Column to look at", small, key="preview-column")
        guess = middle.number_input("Rows, as a guess", 1, 10_000_000, FIRST_GUESS, key="preview-rows")
        part = right.selectbox("Spent on this column", list(PARTS), index=1, key="preview-part")
        spent = Budget(total.epsilon / PARTS[part], total.delta)
        shown = preview_column(domain[name], unit, spent, int(guess))
        figure = _figure(domain[name], shown)
        st.plotly_chart(figure, alt=_alt(name, shown), key="preview", config={"displaylogo": False})
        messages.note(_sentence(domain[name], shown), "public")


def _figure(attribute: Attribute, shown: ColumnPreview) -> go.Figure:
    bars = go.Bar(
        x=[attribute.label(code) for code in range(attribute.size)],
        y=shown.counts,
        marker_color=charts.MIDDLE,
        error_y={
            "type": "constant",
            "value": shown.error,
            "color": charts.GREY,
            # The feet of many bars would touch each other and hide the bars.
            "width": None if attribute.size <= FEW_BINS else 0,
            "thickness": 2 if attribute.size <= FEW_BINS else 1,
        },
    )
    figure = go.Figure(bars)
    figure.update_layout(margin=charts.MARGINS, height=320, xaxis_title=attribute.name, yaxis_title="invented rows")
    figure.update_xaxes(type="category", automargin=True, nticks=charts.FEW_TICKS)
    return figure


def _alt(name: str, shown: ColumnPreview) -> str:
    return f"Invented counts of {name} in {len(shown.counts)} cells, each with an error bar of {rows(shown.error)}."


def _sentence(attribute: Attribute, shown: ColumnPreview) -> str:
    shape = "most of them in the middle of the range" if attribute.ordered else "fewer from one category to the next"
    lost = f" {plural(shown.lost, 'cell')} of {len(shown.counts)} would be lost in it: use fewer." if shown.lost else ""
    return (
        f"Invented rows, not the table's: {shape}. Every count would be within ±{rows(shown.error)}, 95 % of the "
        f"time, if the column were released by itself.{lost}"
    )
