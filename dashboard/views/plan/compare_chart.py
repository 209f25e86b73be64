"""One figure that compares mechanisms: error against epsilon, what is expected, promised and rehearsed."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from core.base.wording import rows
from dashboard.views.common.charts import MARGINS
from dashboard.views.common.wording import number

CHOSEN, OTHER = "#2f7db5", "#7d8894"
"""At least 3:1 against both backgrounds; width and filling tell them apart as well."""
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "triangle-down", "pentagon", "hexagon", "star")
WIDTH = 50
MOST_LINES = 6
LEAST_HEIGHT, LINE_HEIGHT = 340, 18


@dataclass(frozen=True, kw_only=True)
class Line:
    """One mechanism."""

    name: str
    title: str
    about: str
    """What its expected error speaks of."""
    epsilons: tuple[float, ...]
    errors: tuple[float | None, ...]
    """In rows; None where the mechanism refuses."""
    promised: tuple[float | None, ...]
    """By its theorem; None where there is none."""


@dataclass(frozen=True, kw_only=True)
class LeastLine:
    """What no method can do better than."""

    theorem: str
    epsilons: tuple[float, ...]
    errors: tuple[float | None, ...]
    """In rows; None where nothing is proved."""


@dataclass(frozen=True, kw_only=True)
class Dot:
    """One rehearsal."""

    name: str
    epsilon: float
    error: float
    about: str


def compare(
    lines: Sequence[Line],
    dots: Sequence[Dot],
    chosen: str,
    epsilon: float,
    wanted: float | None,
    least: LeastLine | None = None,
) -> tuple[go.Figure, str]:
    """Expected errors as lines, theorems dotted, rehearsals as crosses; the chosen mechanism is thick and filled."""
    figure = go.Figure()
    for place, line in enumerate(nearest(lines, chosen, epsilon)):
        picked = line.name == chosen
        symbol = SYMBOLS[place % len(SYMBOLS)]
        color = CHOSEN if picked else OTHER
        figure.add_scatter(
            x=line.epsilons,
            y=line.errors,
            name=line.title,
            mode="lines+markers",
            line={"color": color, "width": 4 if picked else 1.5},
            marker={"symbol": symbol if picked else f"{symbol}-open", "size": 10 if picked else 8},
            text=[wrapped(line.about)] * len(line.epsilons),
            hovertemplate=f"{line.title}<br>ε %{{x:.3g}}: ±%{{y:,.3~g}} rows expected<br>%{{text}}<extra></extra>",
        )
        if any(value is not None for value in line.promised):
            figure.add_scatter(
                x=line.epsilons,
                y=line.promised,
                name=f"{line.title}: theorem",
                mode="lines+markers",
                line={"color": color, "width": 2 if picked else 1, "dash": "dot"},
                marker={"symbol": f"{symbol}-open", "size": 7},
                # Theorems are far above what happens; those of the others would press all lines together.
                visible=True if picked else "legendonly",
                hovertemplate=f"{line.title}<br>ε %{{x:.3g}}: ±%{{y:,.3~g}} rows promised<extra></extra>",
            )
    if least is not None:
        figure.add_scatter(
            x=least.epsilons,
            y=least.errors,
            name="No method, on every table",
            mode="lines",
            line={"color": OTHER, "width": 3, "dash": "longdash"},
            hovertemplate=f"ε %{{x:.3g}}: no method stays below ±%{{y:,.3~g}} rows<br>{least.theorem}<extra></extra>",
        )
    if dots:
        figure.add_scatter(
            x=[dot.epsilon for dot in dots],
            y=[dot.error for dot in dots],
            name="Rehearsed",
            mode="markers",
            marker={
                "symbol": "x",
                "size": 12,
                "color": [CHOSEN if dot.name == chosen else OTHER for dot in dots],
            },
            text=[dot.about for dot in dots],
            hovertemplate="%{text}<br>ε %{x:.3g}: ±%{y:,.3~g} rows in a rehearsal<extra></extra>",
        )
    figure.add_vline(x=epsilon, line={"color": CHOSEN, "dash": "dash", "width": 1})
    if wanted is not None:
        figure.add_hline(y=wanted, line={"color": CHOSEN, "dash": "dash", "width": 1})
    figure.update_layout(
        margin=MARGINS,
        # The legend takes its lines from the figure, one for each name where it is narrow.
        height=LEAST_HEIGHT + LINE_HEIGHT * len(figure.data),
        xaxis_title="ε (more is less private)",
        yaxis_title="error in rows",
        legend={"orientation": "h", "yanchor": "top", "y": -0.25, "x": 0},
    )
    figure.update_xaxes(type="log", dtick="D2", tickformat="~g", automargin=True)
    figure.update_yaxes(type="log", dtick="D2", tickformat=",~g", automargin=True)
    return figure, _words(lines, dots, chosen, epsilon, least)


def nearest(lines: Sequence[Line], chosen: str, epsilon: float) -> list[Line]:
    """The lines worth drawing: the chosen one, the recommended one, which is the first, and those with the least error.

    All others are in the text alternative, but so many lines and names in a figure hide each other.
    """
    if len(lines) <= MOST_LINES:
        return list(lines)
    others = [line for line in lines[1:] if line.name != chosen]
    kept = [line for line in lines if line is lines[0] or line.name == chosen]
    least = sorted(others, key=lambda line: _at(line.errors, line, epsilon) or math.inf)[: MOST_LINES - len(kept)]
    return [line for line in lines if line in kept or line in least]


def _at(values: Sequence[float | None], line: Line, epsilon: float) -> float | None:
    """A value of a line at the epsilon nearest to the chosen one."""
    return values[min(range(len(line.epsilons)), key=lambda at: abs(line.epsilons[at] - epsilon))]


def wrapped(text: str) -> str:
    """A text in lines that fit beside a point."""
    return "<br>".join(textwrap.wrap(text, WIDTH))


def _words(lines: Sequence[Line], dots: Sequence[Dot], chosen: str, epsilon: float, least: LeastLine | None) -> str:
    """The same comparison as text, at the epsilon nearest to the chosen one."""
    parts = []
    for line in sorted(lines, key=lambda line: line.name != chosen):
        error, bound = _at(line.errors, line, epsilon), _at(line.promised, line, epsilon)
        if error is not None:
            theorem = "" if bound is None else f", {rows(bound)} by its theorem"
            parts.append(f"{line.title} {rows(error)}{theorem}")
    rehearsed = "" if not dots else f" The latest rehearsal had {rows(dots[-1].error)}."
    proved = [] if least is None else [error for error in least.errors if error is not None]
    limit = "" if not proved else f" No method stays below {rows(max(proved))} on every table at the smallest epsilon."
    return f"Lines of the error against epsilon; at epsilon {number(epsilon)}: {'; '.join(parts)}.{rehearsed}{limit}"
