"""Figures of a release at a glance: every column and every pair of columns. Dark is the table, pale the release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from core.planning.quality.quality import JudgedColumn, JudgedPair
from dashboard.views.common.charts import DARK, MARGINS, MORE, PALE

ACROSS = 2
"""Small figures in a row: two such figures stand side by side, and one below the other on a phone."""
TALL = 150
LONGEST_NAME = 20
Side = Literal["distance", "truth", "released"]


def lines_of(judged: Sequence[JudgedColumn]) -> int:
    """Lines of small figures that these columns take."""
    return -(-len(judged) // ACROSS)


def columns(judged: Sequence[JudgedColumn], lines: int) -> tuple[go.Figure, str]:
    """One small figure per column: bars of the table, outlines of the release, in percent of the rows.

    A figure that stands beside another has as many `lines` as that one, so that all small figures are of one size.
    """
    figure = make_subplots(
        rows=lines,
        cols=ACROSS,
        subplot_titles=[f"{_short(column.name)} · {100 * column.distance:.1f} %" for column in judged],
        vertical_spacing=min(0.4 / lines, 0.12),
        horizontal_spacing=0.12,
    )
    for place, column in enumerate(judged):
        row, across = place // ACROSS + 1, place % ACROSS + 1
        for name, shares, marker in (
            ("table", column.truth, {"color": DARK, "line": {"width": 0}}),
            ("release", column.released, {"color": PALE, "line": {"color": DARK, "width": 1}}),
        ):
            figure.add_bar(
                x=list(column.labels),
                y=100 * shares,
                name=name,
                marker=marker,
                legendgroup=name,
                showlegend=place == 0,
                hovertemplate="%{x}: %{y:.2f} %<extra>" + name + "</extra>",
                row=row,
                col=across,
            )
    figure.update_xaxes(type="category", showticklabels=False)
    figure.update_yaxes(rangemode="tozero", ticksuffix=" %", nticks=4)
    figure.update_annotations(font_size=12)
    figure.update_layout(
        barmode="group",
        bargap=0.15,
        margin=MARGINS | {"t": 60},
        height=90 + TALL * lines,
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.02 + 0.12 / lines, "x": 0},
    )
    worst = max(judged, key=lambda column: column.distance)
    return figure, (
        f"Shares of the rows by value, true and released, for {len(judged)} columns; the furthest is {worst.name}, "
        f"where {100 * worst.distance:.1f} percent of the rows would have to be moved."
    )


def pairs(names: Sequence[str], judged: Sequence[JudgedPair], side: Side) -> tuple[go.Figure, str]:
    """A square for every pair of columns: how far off its table is, or how strongly the two hang together."""
    size, places = len(names), {name: place for place, name in enumerate(names)}
    values = np.full((size, size), np.nan)
    for pair in judged:
        one, other = (places[name] for name in pair.columns)
        value = 100 * pair.distance if side == "distance" else getattr(pair, side)
        values[one, other] = values[other, one] = value
    unit = "rows to be moved, in %" if side == "distance" else "Cramér's V"
    most = float(np.nanmax(values, initial=0.0)) if side == "distance" else 1.0
    figure = go.Figure(
        go.Heatmap(
            z=values,
            x=[_short(name) for name in names],
            y=[_short(name) for name in names],
            colorscale=MORE,
            zmin=0,
            zmax=most or 1.0,
            colorbar={"title": {"text": unit, "side": "right"}, "thickness": 14},
            hovertemplate="%{y} and %{x}: %{z:.3g}<extra></extra>",
        )
    )
    figure.update_layout(margin=MARGINS, height=max(320, 120 + 18 * size))
    figure.update_xaxes(type="category", automargin=True, tickangle=-45)
    figure.update_yaxes(type="category", autorange="reversed", automargin=True)
    top = max(judged, key=lambda pair: getattr(pair, side))
    return figure, f"Heat map of {len(judged)} pairs of columns, {unit}; the largest is {' and '.join(top.columns)}."


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…"
