"""Figures of the page Limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from core.attacks.linkage import SingledOut
from core.attacks.reconstruction import Recovered
from core.base.odds import believed
from dashboard.views.common.charts import DARK, GREY, MARGINS, MIDDLE

LEGEND = {"orientation": "h", "y": -0.3}


def recovered(
    sizes: Sequence[float], loose: Sequence[Recovered], desk_size: float, desk: Recovered, most: float
) -> tuple[go.Figure, str]:
    """Shares of secret bits that come back, by the noise in roots of the people; this desk's noise as diamonds."""
    figure = go.Figure()
    for name, shares, own, color, dash in (
        ("linear program", [one.linear_program for one in loose], desk.linear_program, DARK, "solid"),
        ("least squares", [one.least_squares for one in loose], desk.least_squares, MIDDLE, "dot"),
    ):
        _line(figure, sizes, shares, f"{name}, noise up to so much", {"color": color, "dash": dash, "width": 3})
        figure.add_scatter(
            x=[desk_size], y=[own], mode="markers", name=f"{name}, this desk's noise",
            marker={"color": color, "size": 14, "symbol": "diamond", "line": {"color": GREY, "width": 1}},
            hovertemplate="%{y:.1%}<extra></extra>",
        )  # fmt: skip
    figure.add_hline(
        y=0.5, line={"color": GREY, "dash": "dash"}, annotation_text="guessing", annotation_position="bottom left"
    )
    figure.add_hline(
        y=most,
        line={"color": GREY, "dash": "dot"},
        annotation_text="most under this ε",
        annotation_position="bottom left",
    )
    figure.update_layout(
        margin=MARGINS, height=400, legend=LEGEND, yaxis_title="share of the secret bits that comes back",
        xaxis_title="noise, in roots of the number of people",
    )  # fmt: skip
    # Every second one: a phone has no room for more, and would turn them until they reach into the legend.
    marked = [*sizes[::2], *(size for size in (64, 256) if size > sizes[-1])]
    figure.update_xaxes(type="log", tickvals=marked, ticktext=[f"{size:g}" for size in marked])
    figure.update_yaxes(range=[0.3, 1.03], tickformat=".0%")
    return figure, (
        f"Shares of secret bits recovered by the noise: {loose[0].linear_program:.0%} at {sizes[0]:g} square roots, "
        f"{loose[-1].linear_program:.0%} at {sizes[-1]:g}, {desk.linear_program:.0%} with this desk's noise."
    )


def _line(figure: go.Figure, x: Sequence[Any], y: Sequence[float], name: str, line: dict[str, Any]) -> None:
    figure.add_scatter(
        x=list(x), y=list(y), mode="lines+markers", name=name, line=line,
        hovertemplate="%{x:.3g}: %{y:.1%}<extra></extra>",
    )  # fmt: skip


def alone(found: Sequence[tuple[str, SingledOut]]) -> tuple[go.Figure, str]:
    """The share of people who are the only one with some facts, for each choice of facts."""
    figure = go.Figure(
        go.Bar(
            x=[one.share for _, one in found], y=[name for name, _ in found], orientation="h",
            marker={"color": DARK, "line": {"width": 0}}, hovertemplate="%{y}: %{x:.1%}<extra></extra>",
        )
    )  # fmt: skip
    figure.update_layout(
        margin=MARGINS, height=120 + 34 * len(found), xaxis_title="share of the people who are the only one"
    )
    figure.update_xaxes(range=[0, 1.02], tickformat=".0%")
    figure.update_yaxes(type="category", automargin=True, autorange="reversed")
    name, most = max(found, key=lambda pair: pair[1].share)
    return (
        figure,
        f"Shares of people who are alone with {len(found)} choices of facts; most, {most.share:.0%}, by {name}.",
    )


def belief(epsilon: float, before: float) -> tuple[go.Figure, str]:
    """What may be believed after a release, by what was believed before: between the two curves."""
    priors = [place / 100 for place in range(101)]
    figure = go.Figure()
    for name, sign, dash in (("at least", -1, "dot"), ("at most", 1, "solid")):
        _line(figure, priors, [believed(each, sign * epsilon) for each in priors], name, {"color": DARK, "dash": dash})
    _line(figure, [0, 1], [0, 1], "no release at all", {"color": GREY, "dash": "dash"})
    low, high = believed(before, -epsilon), believed(before, epsilon)
    figure.add_scatter(
        x=[before, before], y=[low, high], mode="lines+markers", name="this person",
        line={"color": MIDDLE, "width": 5}, hovertemplate="%{y:.1%}<extra></extra>",
    )  # fmt: skip
    figure.update_traces(mode="lines", selector={"name": "at most"})
    figure.update_traces(mode="lines", selector={"name": "at least"})
    figure.update_layout(
        margin=MARGINS, height=400, legend=LEGEND, xaxis_title="how sure before", yaxis_title="how sure after"
    )
    figure.update_xaxes(range=[0, 1], tickformat=".0%")
    figure.update_yaxes(range=[0, 1.02], tickformat=".0%")
    return figure, f"Belief after a release at epsilon {epsilon:g}: {before:.0%} becomes {low:.0%} to {high:.0%}."
