"""Pictures of where a release will be off: by column and pair, and by class."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from core.base.wording import rows
from core.planning.simulation.error_map import ErrorMap
from dashboard.views.common.charts import DARK, GREY, MARGINS, MORE
from dashboard.views.plan.compare_chart import wrapped

CELL, LEAST, MOST = 26, 320, 760
"""Pixels of a row of the heat map, and of the whole."""


def heat(found: ErrorMap) -> tuple[go.Figure, str]:
    """The share of rows that are in the wrong cell, for every column on the diagonal and every pair beside it."""
    size = len(found.columns)
    shares = np.full((size, size), np.nan)
    for columns, share in found.misplaced.items():
        places = [found.columns.index(name) for name in columns]
        shares[places[0], places[-1]] = shares[places[-1], places[0]] = 100 * share
    figure = go.Figure(
        go.Heatmap(
            z=shares,
            x=found.columns,
            y=found.columns,
            colorscale=MORE,
            zmin=0,
            colorbar={"title": {"text": "% of rows in a wrong cell", "side": "right"}, "thickness": 14},
            hovertemplate="%{y}, %{x}: %{z:.3~g} % of the rows are in the wrong cell<extra></extra>",
        )
    )
    figure.update_layout(margin=MARGINS, height=min(MOST, max(LEAST, 120 + CELL * size)))
    figure.update_xaxes(type="category", automargin=True)
    figure.update_yaxes(type="category", automargin=True, autorange="reversed")
    worst = max(found.misplaced, key=lambda columns: found.misplaced[columns])
    most = f"{100 * found.misplaced[worst]:.2g} percent"
    return figure, f"Heat map of rows in the wrong cell by column and pair; most, {most}, for {' and '.join(worst)}."


def by_class(found: ErrorMap) -> tuple[go.Figure, str]:
    """Mean and largest error of every chosen class: marks, because a bar on a logarithmic scale has no foot."""
    names = [wrapped(sentence) for sentence in found.classes]
    figure = go.Figure()
    for place, (title, color) in enumerate((("on average", DARK), ("largest", GREY))):
        errors = [max(error[place], 0.05) for error in found.classes.values()]
        figure.add_scatter(
            y=names,
            x=errors,
            name=title,
            mode="markers",
            marker={"color": color, "size": 11, "symbol": ("circle", "diamond")[place]},
            hovertemplate=f"%{{y}}<br>{title}: ±%{{x:,.3~g}} rows<extra></extra>",
        )
    figure.update_layout(
        margin=MARGINS,
        height=140 + 50 * len(names),
        xaxis_title="error in rows",
        legend={"orientation": "h", "y": 1.2},
    )
    figure.update_xaxes(type="log", dtick="D2", tickformat=",~g", automargin=True)
    figure.update_yaxes(automargin=True, autorange="reversed")
    parts = (f"{name}: {rows(mean)} on average, {rows(most)} at most" for name, (mean, most) in found.classes.items())
    return figure, f"Errors by class. {'; '.join(parts)}."
