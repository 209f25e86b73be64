"""Charts of a budget: what is spent, by what, and when."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import plotly.graph_objects as go

from dashboard.views.common.charts import DARK, MARGINS, MIDDLE, PALE, TENTHS


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
    figure.update_layout(margin=MARGINS | {"t": 10}, height=240, yaxis_title="spent, in %", xaxis_title="paid (UTC)")
    figure.update_yaxes(range=[0, 105])
    figure.update_xaxes(automargin=True, range=_days(moments))
    return figure, f"Steps of the spent share: {len(spent)} releases, {spent[-1]:.3g} percent spent after the last."


def _days(moments: Sequence[str]) -> list[str]:
    """Two ends around moments, a day apart at least: one spend alone would be drawn over some milliseconds.

    >>> _days(["2026-03-01T12:30:00.5+00:00"])
    ['2026-03-01T00:30:00', '2026-03-02T00:30:00']
    """
    first, last = (datetime.fromisoformat(moment).replace(tzinfo=None) for moment in (moments[0], moments[-1]))
    aside = max((last - first) / 20, timedelta(hours=12) - (last - first) / 2)
    return [end.isoformat(timespec="seconds") for end in (first - aside, last + aside)]
