"""Pictures of decisions by what their lines hold: a map, the two parts of a graph, an order, chosen projects."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.release.decision_release import DecisionRelease
from dashboard.views.common.charts import DARK, GREY, MARGINS, PALE

MOST_NAMED = 60
"""Points that still have their names beside them."""
MOST_BARS = 200


def picture(stored: DecisionRelease) -> tuple[go.Figure, str] | None:
    """A figure and a sentence that says the same; None where there is nothing to draw."""
    lines = stored.lines()
    if {"x", "y", "open"} <= set(lines.columns):
        return _map(lines)
    if "open" in lines.columns:
        return _chosen(lines.assign(chosen=(lines["open"] == "yes").astype(int), project=lines["site"].astype(str)))
    if {"vertex", "part"} <= set(lines.columns):
        return _parts(lines)
    if {"place", "cost"} <= set(lines.columns):
        return _order(lines)
    if "centre" in lines.columns:
        return _centres(lines)
    return _chosen(lines) if "chosen" in lines.columns else None


def _map(lines: pd.DataFrame) -> tuple[go.Figure, str]:
    figure = go.Figure()
    for said, colour, size, symbol in (("no", PALE, 9, "circle"), ("yes", DARK, 16, "star")):
        some = lines[lines["open"] == said]
        figure.add_scatter(
            x=some["x"],
            y=some["y"],
            text=some["site"],
            mode="markers+text" if said == "yes" and len(some) <= MOST_NAMED else "markers",
            textposition="top center",
            name="open" if said == "yes" else "not open",
            marker={"color": colour, "size": size, "symbol": symbol, "line": {"color": GREY, "width": 1}},
            hovertemplate="%{text} (%{x}, %{y})<extra></extra>",
        )
    figure.update_layout(margin=MARGINS, height=460, xaxis_title="x", yaxis_title="y")
    figure.update_yaxes(scaleanchor="x")
    opened = ", ".join(lines.loc[lines["open"] == "yes", "site"].astype(str))
    return figure, f"Map of {len(lines)} sites; open are {opened}."


def _centres(lines: pd.DataFrame) -> tuple[go.Figure, str]:
    """The first two coordinates of every centre."""
    across, up = [name for name in lines.columns if name != "centre"][:2]
    marker = {"color": DARK, "size": 14, "symbol": "cross"}
    named = lines["centre"].astype(str)
    figure = go.Figure(go.Scatter(x=lines[across], y=lines[up], text=named, mode="markers+text", marker=marker))
    figure.update_traces(textposition="top center")
    figure.update_layout(margin=MARGINS, height=420, xaxis_title=across, yaxis_title=up)
    return figure, f"{len(lines)} centres by {across} and {up}."


def _parts(lines: pd.DataFrame) -> tuple[go.Figure, str]:
    """The two parts as two circles; edges are private and are not drawn."""
    figure = go.Figure()
    for part, colour, centre in ((1, DARK, 0.0), (2, PALE, 3.0)):
        some = lines[lines["part"] == part]
        turn = np.linspace(0, 2 * np.pi, len(some), endpoint=False)
        figure.add_scatter(
            x=centre + np.cos(turn) * (len(some) > 1),
            y=np.sin(turn) * (len(some) > 1),
            text=some["vertex"],
            mode="markers+text" if len(lines) <= MOST_NAMED else "markers",
            textposition="middle right",
            name=f"part {part} ({len(some)})",
            marker={"color": colour, "size": 14, "line": {"color": GREY, "width": 1}},
            hovertemplate="%{text}<extra></extra>",
        )
    figure.add_vline(x=1.5, line={"color": GREY, "dash": "dash"})
    figure.update_layout(margin=MARGINS, height=420)
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False, scaleanchor="x")
    sizes = lines["part"].value_counts()
    return figure, f"Two parts of {sizes.get(1, 0)} and {sizes.get(2, 0)} vertices; edges are private and not drawn."


def _order(lines: pd.DataFrame) -> tuple[go.Figure, str]:
    name = next(each for each in ("vertex", "set") if each in lines.columns)
    first = lines.head(MOST_BARS)
    figure = go.Figure(go.Bar(x=first[name].astype(str), y=first["cost"], marker_color=DARK))
    figure.update_layout(margin=MARGINS, height=360, xaxis_title=f"{name}, in order", yaxis_title="cost")
    figure.update_xaxes(type="category", automargin=True, nticks=20)
    return figure, f"The order of {len(lines)} {name}s with their costs; it begins with {first[name].iloc[0]}."


def _chosen(lines: pd.DataFrame) -> tuple[go.Figure, str]:
    colours = [DARK if chosen else PALE for chosen in lines["chosen"]]
    heights = np.where(lines["chosen"] > 0, 1.0, 0.2)
    figure = go.Figure(go.Bar(x=lines["project"], y=heights, marker_color=colours))
    figure.update_layout(margin=MARGINS, height=300)
    figure.update_yaxes(visible=False)
    figure.update_xaxes(type="category", automargin=True)
    named = ", ".join(lines.loc[lines["chosen"] > 0, "project"])
    return figure, f"Of {len(lines)} these are chosen: {named}."
