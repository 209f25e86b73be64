"""Figures of lower bounds: what comes back, what grows, what stays above a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from core.attacks.release_attack import Attacked
from dashboard.views.common.charts import DARK, GREY, MARGINS, MIDDLE

LEGEND = {"orientation": "h", "y": -0.3}
LEAST = 0.01
"""Rows: a logarithmic axis has no zero."""
DASHES = ("solid", "dot", "dash", "longdash", "dashdot", "longdashdot")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "triangle-down", "pentagon", "hexagon", "star", "cross", "x")


def rebuilt(
    errors: Sequence[float], shares: Sequence[float], promised: Sequence[float], desk: tuple[float, float]
) -> tuple[go.Figure, str]:
    """The share of a secret set that comes back, by the largest error in rows; the lemma's promise below it."""
    figure = go.Figure()
    for name, values, color, dash in (
        ("comes back", shares, DARK, "solid"),
        ("promised by lemma 2", promised, GREY, "dot"),
    ):
        figure.add_scatter(
            x=[max(error, LEAST) for error in errors], y=list(values), mode="lines+markers", name=name,
            line={"color": color, "dash": dash}, hovertemplate="%{x:.3g} rows: %{y:.0%}<extra></extra>",
        )  # fmt: skip
    figure.add_scatter(
        x=[max(desk[0], LEAST)], y=[desk[1]], mode="markers", name="at the chosen ε",
        hovertemplate="%{y:.0%}<extra></extra>",
        marker={"color": MIDDLE, "size": 14, "symbol": "diamond", "line": {"color": GREY, "width": 1}},
    )  # fmt: skip
    figure.add_hline(y=0.5, line={"color": GREY, "dash": "dash"}, annotation_text="guessing")
    figure.update_xaxes(type="log", dtick=1, tickformat="~g")
    figure.update_layout(
        margin=MARGINS, height=400, legend=LEGEND, xaxis_title="largest error of the release, in rows",
        yaxis_title="share of the secret set",
    )  # fmt: skip
    figure.update_yaxes(range=[0, 1.03], tickformat=".0%")
    return figure, (
        f"The share of the secret set that comes back falls from {shares[0]:.0%} at an error of {errors[0]:.3g} rows "
        f"to {shares[-1]:.0%} at {errors[-1]:.3g}; with this desk's noise {desk[1]:.0%}."
    )


def composed(numbers: Sequence[int], curves: Mapping[str, Sequence[float]]) -> tuple[go.Figure, str]:
    """Total epsilons by the number of releases, one curve for each way of adding up; the last is drawn strongest."""
    figure = go.Figure()
    for place, (name, totals) in enumerate(curves.items()):
        last = place == len(curves) - 1
        figure.add_scatter(
            x=list(numbers), y=list(totals), mode="lines+markers", name=name,
            line={"color": DARK if last else MIDDLE, "dash": "solid" if last else DASHES[1 + place], "width": 3},
            marker={"symbol": SYMBOLS[place]}, hovertemplate="%{x} releases: ε %{y:.3g}<extra></extra>",
        )  # fmt: skip
    figure.update_layout(
        margin=MARGINS, height=400, legend=LEGEND, xaxis_title="releases", yaxis_title="epsilon of all together"
    )
    figure.update_xaxes(type="log", tickvals=list(numbers), ticktext=[f"{number}" for number in numbers])
    figure.update_yaxes(type="log", dtick="D2", tickformat="~g")
    ends = ", ".join(f"{name} {totals[-1]:.3g}" for name, totals in curves.items())
    return figure, f"Epsilon of {numbers[-1]} releases together, by way of adding up: {ends}."


def by_bits(
    bits: Sequence[int],
    measured: Mapping[str, Sequence[float | None]],
    promised: Sequence[float],
    least: Sequence[float],
    lost: float,
    alpha: float,
) -> tuple[go.Figure, str]:
    """Largest errors of intervals by the bits of the column; what is promised, and what nobody avoids."""
    figure = go.Figure()
    for place, (name, errors) in enumerate(measured.items()):
        figure.add_scatter(
            x=list(bits), y=list(errors), mode="lines+markers", name=name,
            line={"color": DARK if place % 2 else MIDDLE, "dash": DASHES[place % len(DASHES)]},
            marker={"symbol": SYMBOLS[place % len(SYMBOLS)], "size": 9},
            hovertemplate=f"{name}, %{{x}} bits: %{{y:.1%}}<extra></extra>",
        )  # fmt: skip
    for name, values, dash in (
        ("promised by B theorem 4.2", promised, "dot"),
        ("no method stays below, in 19 of 20 runs", least, "solid"),
    ):
        figure.add_scatter(
            x=list(bits), y=list(values), mode="lines", name=name, line={"color": GREY, "dash": dash, "width": 3},
            hovertemplate=f"{name}, %{{x}} bits: %{{y:.2%}}<extra></extra>",
        )  # fmt: skip
    figure.add_hline(y=alpha, line={"color": GREY, "dash": "dash", "width": 1})
    if lost <= bits[-1]:
        figure.add_vline(x=lost, line={"color": GREY, "dash": "dash", "width": 1}, annotation_text="lost for everybody")
    figure.update_layout(
        margin=MARGINS, height=460, legend=LEGEND, xaxis_title="bits of the column",
        yaxis_title="largest error of an interval",
    )  # fmt: skip
    figure.update_xaxes(tickvals=list(bits))
    figure.update_yaxes(type="log", tickformat="~%", dtick="D2", automargin=True)
    last = {name: errors[-1] for name, errors in measured.items() if errors[-1] is not None}
    best = min(last, key=lambda name: last[name] or 0.0)
    return figure, (
        f"Largest interval errors of {len(measured)} mechanisms from {bits[0]} to {bits[-1]} bits; at {bits[-1]} bits "
        f"the least is {last[best]:.1%} by {best}, and nobody is below {least[-1]:.2%}."
    )


def parities(worst: Mapping[str, float], bound: float) -> tuple[go.Figure, str]:
    """The worst parity of each release of records, with the line that no private one stays below."""
    names = sorted(worst, key=lambda name: worst[name])
    figure = go.Figure(
        go.Bar(
            x=[worst[name] for name in names], y=names, orientation="h", marker={"color": DARK, "line": {"width": 0}},
            hovertemplate="%{y}: %{x:.1%}<extra></extra>",
        )
    )  # fmt: skip
    figure.add_vline(
        x=bound, line={"color": GREY, "dash": "dash", "width": 2}, annotation_text="1/(2 √n)", annotation_yshift=22
    )
    figure.update_layout(
        margin={**MARGINS, "t": 50}, height=140 + 26 * len(names), xaxis_title="error of the worst parity"
    )
    figure.update_xaxes(rangemode="tozero", tickformat=".0%")
    figure.update_yaxes(type="category", automargin=True, autorange="reversed")
    return figure, (
        f"The worst parity of {len(names)} mechanisms, from {worst[names[0]]:.0%} ({names[0]}) to "
        f"{worst[names[-1]]:.0%} ({names[-1]}); the bound is {bound:.1%}."
    )


def told_apart(rows: Sequence[int], missed: Mapping[str, Sequence[float]]) -> tuple[go.Figure, str]:
    """The share of pairs of samples that each example tells apart, by the number of rows."""
    figure = go.Figure()
    for place, (name, shares) in enumerate(missed.items()):
        figure.add_scatter(
            x=list(rows), y=list(shares), mode="lines+markers", name=name,
            line={"color": (DARK, MIDDLE, GREY)[place % 3], "dash": DASHES[place % len(DASHES)]},
            hovertemplate=f"{name}, %{{x}} rows: %{{y:.1%}}<extra></extra>",
        )  # fmt: skip
    figure.update_layout(
        margin=MARGINS, height=380, legend=LEGEND, xaxis_title="rows of each sample",
        yaxis_title="pairs of samples told apart",
    )  # fmt: skip
    figure.update_xaxes(type="log", tickvals=list(rows))
    figure.update_yaxes(range=[0, 1.02], tickformat=".0%")
    parts = "; ".join(f"{name} {shares[-1]:.0%}" for name, shares in missed.items())
    return figure, f"Shares of pairs of samples of {rows[-1]:,} rows that are told apart: {parts}."


def advantages(found: Sequence[Attacked], bound: float) -> tuple[go.Figure, str]:
    """Every run of both attacks on each publication, with the bound that a private one keeps in expectation."""
    figure = go.Figure()
    for name, runs, color, symbol in (
        ("who is inside", [one.membership for one in found], DARK, "circle"),
        ("the secret", [one.attribute for one in found], MIDDLE, "diamond"),
    ):
        pairs = [(one.name, run) for one, each in zip(found, runs, strict=True) for run in each]
        figure.add_scatter(
            x=[run.value for _, run in pairs], y=[name for name, _ in pairs], mode="markers", name=name,
            error_x={"type": "data", "array": [2 * run.spread for _, run in pairs], "thickness": 1},
            marker={"color": color, "size": 10, "symbol": symbol}, hovertemplate="%{y}: %{x:.1%}<extra></extra>",
        )  # fmt: skip
    figure.add_vline(x=bound, line={"color": GREY, "dash": "dash", "width": 2}, annotation_text="most under ε and δ")
    figure.update_layout(
        margin=MARGINS, height=360, legend=LEGEND, xaxis_title="advantage: right accusations minus false ones"
    )
    figure.update_xaxes(range=[-0.15, 1.05], tickformat=".0%")
    figure.update_yaxes(type="category", automargin=True, autorange="reversed")
    parts = "; ".join(f"{one.name} {max(run.value for run in one.membership):.0%}" for one in found)
    return figure, f"Largest advantage in telling who is inside: {parts}; the bound is {bound:.0%}."
