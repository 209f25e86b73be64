"""Figures by plotly. Lightness carries the meaning, so that they can be read without telling hues apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from core.schema.attributes import Attribute
from core.schema.domain import Domain

MOST_CELLS, FEW_CELLS, FEW_TICKS = 4_000, 60, 12
DARK, MIDDLE, PALE, GREY = "#2b77ad", "#6fa8cf", "#c9d6e2", "#7d8894"
"""Dark and grey have at least 3:1 against both backgrounds, and dark against pale; middle parts dark pieces only."""
TENTHS = (0, 20, 40, 60, 80, 100)
MARGINS = {"l": 10, "r": 10, "t": 30, "b": 10}


def counts(domain: Domain, columns: Sequence[str], table: NDArray[np.float64]) -> tuple[go.Figure, str]:
    """Bars for one column, a heat map for two; with a sentence that says the same."""
    labels = [[domain[name].label(code) for code in range(domain[name].size)] for name in columns]
    flat = table.ravel()
    top = np.unravel_index(int(flat.argmax()), table.shape)
    place = ", ".join(f"{name} {labels[axis][top[axis]]}" for axis, name in enumerate(columns))
    kind = "Bar chart" if len(columns) == 1 else "Heat map"
    by = " and ".join(columns)
    alt = f"{kind} of {flat.size} released counts by {by}; the largest is {flat.max():,.0f} at {place}."
    figure = go.Figure(_bars(labels[0], table) if len(columns) == 1 else _heat(labels, table))
    figure.update_layout(
        margin=MARGINS, height=420, xaxis_title=columns[-1], yaxis_title="rows" if len(columns) == 1 else columns[0]
    )
    # Labels such as '3' or '2024-01-01 to 2024-03-31' are names here, not numbers or dates.
    figure.update_xaxes(type="category", automargin=True)
    if len(columns) == 2:
        figure.update_yaxes(type="category", automargin=True, autorange="reversed")
    return figure, alt


def spread(size: int, most: int) -> list[int]:
    """At most so many places from all over a list, the first and the last among them.

    >>> spread(3, 10), spread(101, 3)
    ([0, 1, 2], [0, 50, 100])
    """
    return [int(place) for place in np.unique(np.linspace(0, size - 1, min(size, most)).astype(int))]


def running(attribute: Attribute, table: NDArray[np.float64]) -> tuple[go.Figure, str]:
    """The share of rows up to each value of an ordered column; missing values count in the total only."""
    regular = attribute.regular
    shares = np.cumsum(table[:regular]) / max(float(table.sum()), 1.0)
    places = spread(regular, MOST_CELLS)
    figure = go.Figure(
        go.Scatter(
            x=[attribute.label(place) for place in places],
            y=shares[places],
            mode="lines+markers" if regular <= FEW_CELLS else "lines",
            line={"color": DARK, "width": 3},
            hovertemplate="up to %{x}: %{y:.1%} of the rows<extra></extra>",
        )
    )
    figure.update_layout(
        margin=MARGINS, height=360, xaxis_title=attribute.name, yaxis_title="share of the rows up to here"
    )
    figure.update_xaxes(type="category", automargin=True, nticks=20)
    figure.update_yaxes(range=[0, 1.02], tickformat=".0%")
    half = attribute.label(int(np.searchsorted(shares, 0.5).clip(0, regular - 1)))
    return figure, f"Line of the running share of rows by {attribute.name}; half of the rows lie at or below {half}."


def gauge(spent: float) -> tuple[go.Figure, str]:
    """How much of a budget is spent."""
    figure = go.Figure(
        go.Indicator(
            mode="gauge+number",
            value=100 * spent,
            number={"suffix": " %", "valueformat": ".3~g"},
            gauge={
                "axis": {"range": [0, 100], "ticksuffix": " %"},
                "bar": {"color": DARK, "thickness": 0.9},
                "bgcolor": PALE,
                "borderwidth": 0,
            },
        )
    )
    figure.update_layout(margin={"l": 45, "r": 45, "t": 30, "b": 10}, height=230)
    return figure, f"Gauge: {100 * spent:.3g} percent of the budget is spent."


def spends(names: Sequence[str], shares: Sequence[float], paid_only: Sequence[bool]) -> tuple[go.Figure, str]:
    """What each release took, oldest first, and what is left; unfinished ones are hatched."""
    left = max(0.0, 1 - sum(shares))
    bars: list[Any] = [
        go.Bar(
            y=["budget"],
            x=[100 * share],
            orientation="h",
            name=name,
            hovertemplate=f"{name}: %{{x:.3g}} %<extra></extra>",
            marker={
                "color": (DARK, MIDDLE)[place % 2],
                "pattern": {"shape": "/" if waiting else ""},
                "line": {"width": 1, "color": "white"},
            },
        )
        for place, (name, share, waiting) in enumerate(zip(names, shares, paid_only, strict=True))
    ]
    bars.append(
        go.Bar(
            y=["budget"],
            x=[100 * left],
            orientation="h",
            name="left",
            marker={"color": PALE},
            hovertemplate="left: %{x:.3g} %<extra></extra>",
        )
    )
    figure = go.Figure(bars)
    figure.update_layout(barmode="stack", margin=MARGINS | {"r": 30, "t": 10}, height=110, showlegend=False)
    figure.update_xaxes(range=[0, 100], tickvals=TENTHS, ticktext=[f"{place} %" for place in TENTHS])
    figure.update_yaxes(visible=False)
    return (
        figure,
        f"Bar of the budget: {len(names)} paid releases; {100 * left:.3g} percent is left.",
    )


def timeline(moments: Sequence[str], shares: Sequence[float], names: Sequence[str]) -> tuple[go.Figure, str]:
    """How the spent share grew, one step per release, oldest first."""
    spent = [100 * float(share) for share in np.cumsum(shares)]
    figure = go.Figure(
        go.Scatter(
            x=list(moments),
            y=spent,
            mode="lines+markers",
            line={"shape": "hv", "color": DARK, "width": 3},
            marker={"size": 9},
            text=list(names),
            hovertemplate="%{text}<br>%{y:.3g} % spent<extra></extra>",
        )
    )
    figure.update_layout(margin=MARGINS | {"t": 10}, height=240, yaxis_title="spent, in %")
    figure.update_yaxes(range=[0, 105])
    figure.update_xaxes(automargin=True)
    return figure, f"Steps of the spent share: {len(spent)} releases, {spent[-1]:.3g} percent spent after the last."


def session(kinds: Sequence[str], limit: int | None, plain: int | None) -> tuple[go.Figure, str]:
    """How many hard answers a session gave after each question, its limit, and where plain noise would have ended."""
    hard = np.cumsum([kind == "hard" for kind in kinds])
    asked = list(range(1, len(kinds) + 1))
    figure = go.Figure(
        go.Scatter(
            x=asked,
            y=hard,
            mode="lines+markers" if len(asked) <= FEW_CELLS else "lines",
            line={"shape": "hv", "color": DARK, "width": 3},
            name="hard answers",
            hovertemplate="after %{x} questions: %{y} hard<extra></extra>",
        )
    )
    if limit is not None:
        figure.add_hline(y=limit, line={"color": GREY, "dash": "dash"}, annotation_text="limit of the session")
    if plain is not None and plain < len(kinds):
        figure.add_vline(x=plain, line={"color": GREY, "dash": "dot"}, annotation_text="plain noise ends here")
    figure.update_layout(
        margin=MARGINS, height=300, xaxis_title="questions", yaxis_title="hard answers", showlegend=False
    )
    figure.update_xaxes(dtick=1 if len(asked) <= FEW_TICKS else None)
    figure.update_yaxes(rangemode="tozero")
    text = f"Steps of hard answers: {int(hard[-1])} of {len(kinds)} questions were hard"
    return figure, text + ("." if limit is None else f"; the session can give {limit}.")


def _bars(labels: list[str], table: NDArray[np.float64]) -> go.Bar:
    return go.Bar(
        x=labels,
        y=table,
        marker={"color": DARK, "line": {"width": 0}},
        hovertemplate="%{x}: %{y:,.0f} rows<extra></extra>",
    )


def _heat(labels: list[list[str]], table: NDArray[np.float64]) -> go.Heatmap:
    return go.Heatmap(
        z=table,
        x=labels[1],
        y=labels[0],
        colorscale="Cividis",
        colorbar={"title": "rows"},
        hovertemplate="%{y}, %{x}: %{z:,.0f} rows<extra></extra>",
    )
