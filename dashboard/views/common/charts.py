"""Figures by plotly. Lightness carries the meaning, so that they can be read without telling hues apart."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from core.schema.attributes import Attribute
from core.schema.domain import Dates, Domain

MOST_CELLS, FEW_CELLS, FEW_TICKS, MOST_TICKS = 4_000, 60, 12, 26
TO = " to "
DARK, MIDDLE, PALE, GREY = "#2b77ad", "#6fa8cf", "#c9d6e2", "#7d8894"
"""Dark and grey have at least 3:1 against both backgrounds, and dark against pale; middle parts dark pieces only."""
MORE, DIFFERENCE = "Blues", "RdBu_r"
"""Scales of colour: one for amounts, from pale to dark, and one for differences, which is pale where there is none."""
TENTHS = (0, 20, 40, 60, 80, 100)
MOST_STEPS = 13
"""Marks, so that one can be read beside the next: months of a year and the one after."""
FEWEST_STEPS = 3
STEPS: tuple[tuple[Callable[[int, int], int], str], ...] = (
    (lambda year, month: 12 * year + month - 1, "month"),
    (lambda year, month: 4 * year + (month - 1) // 3, "month"),
    (lambda year, month: year, "year"),
    (lambda year, month: year // 2, "year"),
    (lambda year, month: year // 5, "year"),
    (lambda year, month: year // 10, "year"),
    (lambda year, month: year // 20, "year"),
    (lambda year, month: year // 50, "year"),
    (lambda year, month: year // 100, "year"),
)
"""In which month, quarter, year, ... a day lies, and how such a place is written."""
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
    figure.update_layout(margin=MARGINS, height=420)
    figure.update_xaxes(**axis(domain[columns[-1]], labels[-1]))
    if len(columns) == 2:
        figure.update_yaxes(**axis(domain[columns[0]], labels[0]), autorange="reversed")
    else:
        figure.update_yaxes(title="rows", tickformat=",")
    return figure, alt


def axis(attribute: Attribute, labels: Sequence[str]) -> dict[str, Any]:
    """An axis of a column's cells. Labels such as '3' or '2024-01-01' are names here, not numbers or dates.

    Bins of days, and many bins of numbers, are long to read: each is marked by what it begins with, and at most some.
    Many days are marked at the first of months, quarters or years.
    """
    if isinstance(attribute, Dates) and (time := calendar(labels)) is not None:
        return _axis(attribute.name, labels, [place for place, _ in time], [mark for _, mark in time])
    places = spread(len(labels), MOST_TICKS)
    marks, title = [labels[place] for place in places], attribute.name
    many = isinstance(attribute, Dates) or (attribute.ordered and len(marks) > FEW_TICKS)
    if many and any(TO in mark for mark in marks):
        marks, title = [mark.partition(TO)[0] for mark in marks], f"{attribute.name}, bins from"
    return _axis(title, labels, places, marks)


def _axis(title: str, labels: Sequence[str], places: Sequence[int], marks: Sequence[str]) -> dict[str, Any]:
    return {
        "type": "category",
        "automargin": True,
        "title": title,
        "tickmode": "array",
        "tickvals": [labels[place] for place in places],
        "ticktext": list(marks),
    }


def calendar(labels: Sequence[str]) -> list[tuple[int, str]] | None:
    """Places and their texts, for cells that begin with days such as 2024-03-01; None where each is better named.

    The cell of missing days, the last one, keeps its name. Only whole steps are marked: the piece of one at the
    beginning has no mark, else it would crowd the next.

    >>> days = [f"{year}-{month:02}-01" for year in (2023, 2024) for month in range(1, 13)]
    >>> calendar(days)[:3], calendar(days[:4])
    ([(0, '2023-01'), (3, '2023-04'), (6, '2023-07')], None)
    """
    began = [_began(label) for label in labels]
    days = [each for each in began if each is not None]
    rest = len(labels) - len(days)
    if len(labels) <= MOST_STEPS or rest > 1 or (rest == 1 and began[-1] is not None):
        return None
    last = [(len(days), labels[-1])] if rest else []
    for step, written in STEPS:
        steps = [step(year, month) for year, month, _ in days]
        places = [place for place in range(len(days)) if _begins(days, steps, place, step)]
        if FEWEST_STEPS <= len(places) <= MOST_STEPS:
            cut = 7 if written == "month" else 4
            return [(place, labels[place][:cut]) for place in places] + last
    return None


def _began(label: str) -> tuple[int, int, int] | None:
    """The day with which a label begins."""
    parts = label[:10].split("-")
    if len(parts) != 3 or not all(part.isascii() and part.isdigit() for part in parts):
        return None
    return int(parts[0]), int(parts[1]), int(parts[2])


def _begins(
    days: Sequence[tuple[int, int, int]], steps: Sequence[int], place: int, step: Callable[[int, int], int]
) -> bool:
    """Whether a step begins here: later than in the cell before, or in the first cell on its very first day."""
    if place:
        return steps[place] != steps[place - 1]
    year, month, day = days[0]
    before = (year, month - 1) if month > 1 else (year - 1, 12)
    return day == 1 and step(year, month) != step(*before)


def spread(size: int, most: int) -> list[int]:
    """At most so many places from all over a list, the first and the last among them.

    >>> spread(3, 10), spread(101, 3)
    ([0, 1, 2], [0, 50, 100])
    """
    return [int(place) for place in np.unique(np.linspace(0, size - 1, min(size, most)).astype(int))]


def by_group(frame: pd.DataFrame, what: str, column: str) -> tuple[go.Figure, str]:
    """A number of each group with its interval, where there is one."""
    values, low, high = (frame[name].astype(float) for name in (what, f"{what} from", f"{what} to"))
    error = {"type": "data", "array": high - values, "arrayminus": values - low, "color": GREY}
    marks = go.Scatter(
        x=values, y=frame["group"], mode="markers", marker={"color": DARK, "size": 9}, error_x=error, showlegend=False
    )
    figure = go.Figure(marks)
    unit = "rows" if what == "number" else f"{what} of {column}"
    figure.update_layout(margin=MARGINS, height=120 + 28 * len(frame), xaxis_title=unit)
    figure.update_yaxes(type="category", automargin=True, autorange="reversed")
    first, last = values.min(), values.max()
    return figure, f"The {what} of {column} in {len(frame)} groups, from {first:,.6g} to {last:,.6g}, with intervals."


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
    figure.update_layout(margin=MARGINS, height=360, yaxis_title="share of the rows up to here")
    figure.update_xaxes(**axis(attribute, [attribute.label(place) for place in places]))
    figure.update_yaxes(range=[0, 1.02], tickformat=".0%")
    half = attribute.label(int(np.searchsorted(shares, 0.5).clip(0, regular - 1)))
    return figure, f"Line of the running share of rows by {attribute.name}; half of the rows lie at or below {half}."


def numbers(
    title: str, labels: Sequence[str], values: Sequence[float | None], ends: Sequence[tuple[float, float] | None]
) -> tuple[go.Figure, str]:
    """Bars for groups, each with its interval where one is promised; with a sentence that says the same."""
    figure = go.Figure(
        go.Bar(
            x=list(labels),
            y=list(values),
            marker={"color": MIDDLE, "line": {"width": 0}},
            error_y={
                "type": "data",
                "symmetric": False,
                "array": [_reach(value, each, 1) for value, each in zip(values, ends, strict=True)],
                "arrayminus": [_reach(value, each, 0) for value, each in zip(values, ends, strict=True)],
                "color": GREY,
            },
            hovertemplate="%{x}: %{y:,.4~g}<extra></extra>",
        )
    )
    figure.update_layout(margin=MARGINS, height=380, yaxis_title=title)
    figure.update_xaxes(type="category", automargin=True)
    known = [(value, label) for value, label in zip(values, labels, strict=True) if value is not None]
    largest = f"; the largest is {max(known)[0]:,.4g} at {max(known)[1]}" if known else ""
    return figure, f"Bar chart of {title} for {len(labels)} groups with intervals{largest}."


def _reach(value: float | None, ends: tuple[float, float] | None, side: int) -> float:
    return 0.0 if value is None or ends is None else abs(ends[side] - value)


def _bars(labels: list[str], table: NDArray[np.float64]) -> go.Bar:
    return go.Bar(
        x=labels,
        y=table,
        marker={"color": DARK, "line": {"width": 0}},
        hovertemplate="%{x}: %{y:,.0f} rows<extra></extra>",
    )


def _heat(labels: list[list[str]], table: NDArray[np.float64]) -> go.Heatmap:
    """Darker for more, by the square root of the counts: a few large cells would leave all others in one colour."""
    known = np.maximum(table, 0.0)
    most = float(known.max(initial=0.0))
    ticks = count_ticks(most)
    return go.Heatmap(
        z=np.sqrt(known),
        customdata=table,
        x=labels[1],
        y=labels[0],
        # Both ends: with one of them the scale would begin at the smallest count, and draw it as if it were none.
        zmin=0,
        zmax=math.sqrt(most) or 1.0,
        colorscale=MORE,
        colorbar={"title": "rows", "tickvals": np.sqrt(ticks), "ticktext": [f"{tick:,.0f}" for tick in ticks]},
        hovertemplate="%{y}, %{x}: %{customdata:,.0f} rows<extra></extra>",
    )


def count_ticks(most: float) -> list[float]:
    """Round counts for a scale of square roots, about evenly spread on it.

    >>> count_ticks(9_000), count_ticks(3)
    ([0.0, 600.0, 2000.0, 5000.0, 9000.0], [0.0, 1.0, 2.0, 3.0])
    >>> count_ticks(177)
    [0.0, 10.0, 40.0, 100.0, 170.0]
    """
    if most < 4:
        return [float(count) for count in range(int(most) + 1)] if most >= 1 else [0.0, most]
    # Rounded down: a tick above the largest count is not drawn.
    unit = 10.0 ** (math.floor(math.log10(most)) - 1)
    top = math.floor(most / unit) * unit
    return [0.0, *(float(f"{most * share:.1g}") for share in (1 / 16, 1 / 4, 9 / 16)), top]
