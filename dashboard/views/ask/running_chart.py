"""The running state of a session: every answer with its error band, and how many hard answers were left after it."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from core.sessions.answer import Answer
from dashboard.views.common import charts

MARKED = {"easy": charts.MIDDLE, "hard": charts.DARK, "unchecked": charts.GREY}
SYMBOLS = {"easy": "circle", "hard": "diamond", "unchecked": "x"}


def draw(answers: Sequence[Answer], limit: int | None, plain: int | None) -> tuple[go.Figure, str]:
    """Answers in per cent with their intervals, above the hard answers left; with a sentence that says the same.

    `plain` is the question after which fresh noise of the same exactness would have ended.
    """
    limited = limit is not None
    figure = make_subplots(rows=2 if limited else 1, shared_xaxes=True, row_heights=[0.65, 0.35] if limited else None)
    for kind in MARKED:
        shown = [answer for answer in answers if answer.kind == kind]
        if shown:
            figure.add_trace(_answers(kind, shown), row=1, col=1)
    if limited:
        figure.add_trace(_left(answers), row=2, col=1)
        figure.update_yaxes(title_text="hard left", rangemode="tozero", row=2, col=1)
    if plain is not None and answers[0].number < plain < answers[-1].number:
        figure.add_vline(x=plain, line={"color": charts.GREY, "dash": "dot"})
    figure.update_layout(margin=charts.MARGINS, height=420 if limited else 300, legend={"orientation": "h", "y": 1.12})
    figure.update_yaxes(title_text="share, in %", row=1, col=1)
    figure.update_xaxes(title_text="questions", row=2 if limited else 1, col=1)
    figure.update_xaxes(dtick=1 if len(answers) <= charts.FEW_TICKS else None)
    return figure, _sentence(answers, limit)


def _answers(kind: str, shown: Sequence[Answer]) -> go.Scatter:
    bands = [answer.interval or (answer.share, answer.share) for answer in shown]
    return go.Scatter(
        x=[answer.number for answer in shown],
        y=[100 * answer.share for answer in shown],
        mode="markers",
        marker={"color": MARKED[kind], "symbol": SYMBOLS[kind], "size": 8},
        error_y={
            "type": "data",
            "symmetric": False,
            "array": [100 * max(0.0, high - answer.share) for answer, (_, high) in zip(shown, bands, strict=True)],
            "arrayminus": [100 * max(0.0, answer.share - low) for answer, (low, _) in zip(shown, bands, strict=True)],
            "color": MARKED[kind],
            "thickness": 1.5,
        },
        name=kind,
        hovertemplate=f"question %{{x}}: %{{y:.2f}} %, {kind}<extra></extra>",
    )


def _left(answers: Sequence[Answer]) -> go.Scatter:
    return go.Scatter(
        x=[answer.number for answer in answers],
        y=[answer.left for answer in answers],
        mode="lines",
        line={"shape": "hv", "color": charts.DARK, "width": 3},
        showlegend=False,
        hovertemplate="after question %{x}: %{y} left<extra></extra>",
    )


def _sentence(answers: Sequence[Answer], limit: int | None) -> str:
    hard = sum(answer.kind == "hard" for answer in answers)
    text = f"{len(answers)} answers with their intervals, {hard} of them hard"
    return f"{text}." if limit is None else f"{text}; {answers[-1].left} of {limit} hard answers are left."
