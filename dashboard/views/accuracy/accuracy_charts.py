"""Figures for the curator: the table against a release. Dark is the table, pale the release."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from core.base.arrays import Floats
from core.schema.attributes import Attribute
from core.schema.domain import Domain
from dashboard.views.common.charts import DARK, DIFFERENCE, GREY, MARGINS, PALE, axis, spread

MOST_DOTS = 2_000
PALE_BAR = {"color": PALE, "line": {"color": DARK, "width": 1}}
DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
ABOVE = {"orientation": "h", "yanchor": "bottom", "y": 1, "x": 0}
"""A legend that leaves a narrow figure its width."""


def distribution(named: Sequence[tuple[str, Floats]]) -> tuple[go.Figure, str]:
    """The share of questions whose error is at most so large, one line per release and class."""
    figure, parts = go.Figure(), []
    for place, (name, errors) in enumerate(named):
        ordered = np.sort(100 * errors)
        places = spread(len(ordered), MOST_DOTS) if len(ordered) else []
        figure.add_scatter(
            x=ordered[places],
            y=[(at + 1) / len(ordered) for at in places],
            mode="lines",
            name=name,
            line={"color": (DARK, GREY)[place % 2], "dash": DASHES[place // 2 % 5], "width": 3},
            hovertemplate="%{y:.0%} of the questions are off by at most %{x:.3g} %<extra></extra>",
        )
        if len(ordered):
            parts.append(f"{name}: half of the questions are off by at most {np.median(ordered):.3g} percent")
    figure.update_layout(
        margin=MARGINS, height=340, xaxis_title="error, in % of the table", yaxis_title="share of the questions",
        legend={"orientation": "h", "y": -0.3},
    )  # fmt: skip
    figure.update_yaxes(range=[0, 1.02], tickformat=".0%")
    return figure, "Lines of how errors are distributed. " + "; ".join(parts) + "."


def side_by_side(domain: Domain, columns: Sequence[str], real: Floats, released: Floats) -> tuple[go.Figure, str]:
    """Two bars per value of one column; for two columns a heat map of the differences."""
    labels = [[domain[name].label(code) for code in range(domain[name].size)] for name in columns]
    off = np.abs(real - released)
    top = np.unravel_index(int(off.argmax()), off.shape)
    where = ", ".join(f"{name} {labels[axis][int(top[axis])]}" for axis, name in enumerate(columns))
    what = "Real and released counts" if len(columns) == 1 else "Released less real counts"
    alt = f"{what} by {' and '.join(columns)}; the largest difference is {off.max():,.0f} rows at {where}."
    if len(columns) == 1:
        figure = go.Figure(
            [
                go.Bar(x=labels[0], y=real, name="table", marker={"color": DARK}),
                go.Bar(x=labels[0], y=released, name="release", marker=PALE_BAR),
            ]
        )
        figure.update_layout(barmode="group", yaxis_title="rows", legend=ABOVE)
        figure.update_yaxes(tickformat=",")
    else:
        most = float(off.max()) or 1.0
        figure = go.Figure(
            go.Heatmap(
                z=released - real,
                x=labels[1],
                y=labels[0],
                colorscale=DIFFERENCE,
                zmin=-most,
                zmax=most,
                colorbar={"title": {"text": "released − true, in rows", "side": "right"}},
                hovertemplate="%{y}, %{x}: %{z:+,.0f} rows<extra></extra>",
            )
        )
        figure.update_yaxes(**axis(domain[columns[0]], labels[0]), autorange="reversed")
    figure.update_layout(margin=MARGINS, height=420)
    figure.update_xaxes(**axis(domain[columns[-1]], labels[-1]))
    return figure, alt


def running(attribute: Attribute, real: Floats, released: Floats) -> tuple[go.Figure, str, float]:
    """Both running shares with the interval of the largest error shaded, and that error.

    The error of the interval (i, j] is a difference of two values of the difference of running shares, so the worst one
    lies between its largest and its smallest value (or the start).
    """
    regular = attribute.regular
    shares = [np.cumsum(counts[:regular]) / max(float(counts.sum()), 1.0) for counts in (real, released)]
    gap = np.concatenate([[0.0], shares[1] - shares[0]])
    low, high = sorted((int(gap.argmin()), int(gap.argmax())))
    places = spread(regular, MOST_DOTS)
    labels = [attribute.label(place) for place in range(regular)]
    figure = go.Figure(
        [
            go.Scatter(
                x=[labels[place] for place in places],
                y=share[places],
                mode="lines",
                name=name,
                line={"color": color, "width": 3, "dash": dash},
            )
            for share, name, color, dash in ((shares[0], "table", DARK, "solid"), (shares[1], "release", GREY, "dash"))
        ]
    )
    worst = float(gap.max() - gap.min())
    if high > low:
        # Places on an axis of names are whole numbers; the cells (low, high] reach half a step beyond their middles.
        ends = np.searchsorted(places, [low, high - 1]) + np.array([-0.5, 0.5])
        figure.add_vrect(x0=ends[0], x1=ends[1], fillcolor=GREY, opacity=0.25, line_width=0, layer="below")
    figure.update_layout(margin=MARGINS, height=340, yaxis_title="share up to here", legend=ABOVE)
    figure.update_xaxes(**axis(attribute, [labels[place] for place in places]))
    figure.update_yaxes(range=[0, 1.02], tickformat=".0%")
    where = f"{labels[min(low, regular - 1)]} and {labels[max(high - 1, 0)]}"
    return figure, f"Running shares of table and release; the worst interval lies between {where}.", worst


def margin(margins: Floats, errors: Floats) -> tuple[go.Figure, str]:
    figure = go.Figure(go.Scatter(x=margins, y=100 * errors, mode="lines+markers", line={"color": DARK, "width": 3}))
    figure.update_layout(
        margin=MARGINS,
        height=300,
        xaxis_title="margin, as a share of the radius of the scaled columns",
        yaxis_title="largest error, in %",
    )
    figure.update_yaxes(rangemode="tozero")
    return figure, f"Line of the largest halfspace error: {100 * errors[0]:.3g} percent without a margin."
