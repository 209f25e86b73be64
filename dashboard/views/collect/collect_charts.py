"""Figures of the page Collect."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from core.local.barrier import MeasuredBarrier
from core.local.design import QuestionDesign
from core.local.estimates import LocalEstimates
from core.local.plan import described
from dashboard.views.common.charts import DARK, GREY, MARGINS, MIDDLE, PALE

MOST_BARS = 2_000


def compared(designs: Sequence[tuple[str, QuestionDesign]]) -> tuple[go.Figure, str]:
    """Expected errors of all randomisers, per question, and of a trusted curator."""
    figure = go.Figure()
    for name, one in designs:
        others = [trial for trial in one.trials if trial.randomiser != one.question.randomiser]
        _marks(
            figure,
            name,
            [100 * trial.error for trial in others],
            [trial.randomiser for trial in others],
            PALE,
            "circle",
        )
        _marks(figure, name, [100 * one.error], [f"{one.question.randomiser}, chosen"], DARK, "circle")
        _marks(figure, name, [100 * one.central], ["trusted curator"], GREY, "diamond-open")
    figure.update_layout(margin=MARGINS, height=340, yaxis_title="expected error, in %", showlegend=False)
    figure.update_xaxes(type="category", automargin=True)
    figure.update_yaxes(type="log", dtick="D2", tickformat="~g")
    worst = max(designs, key=lambda pair: pair[1].error)
    most = f"the largest is {100 * worst[1].error:.3g} percent for {worst[0]}"
    return figure, f"Expected errors of {len(designs)} questions; {most}."


def _marks(figure: go.Figure, name: str, errors: list[float], words: list[str], color: str, symbol: str) -> None:
    figure.add_scatter(
        x=[name] * len(errors), y=errors, mode="markers", text=words,
        marker={"color": color, "size": 13, "symbol": symbol, "line": {"color": GREY, "width": 1}},
        hovertemplate="%{text}: %{y:.3g} %<extra></extra>",
    )  # fmt: skip


def shares(estimates: LocalEstimates, place: int) -> tuple[go.Figure, str]:
    """The share of every answer with its interval."""
    table = estimates.table()
    question = described(estimates.plan.questions[place])
    own = table[(table["question"] == question) & (table["figure"] == "share")].head(MOST_BARS)
    figure = go.Figure(
        go.Bar(
            x=own["answer"].tolist(),
            y=(100 * own["estimate"]).tolist(),
            marker={"color": MIDDLE, "line": {"width": 0}},
            error_y={
                "type": "data", "symmetric": False, "color": GREY,
                "array": (100 * (own["high"] - own["estimate"])).tolist(),
                "arrayminus": (100 * (own["estimate"] - own["low"])).tolist(),
            },
            hovertemplate="%{x}: %{y:.3g} %<extra></extra>",
        )
    )  # fmt: skip
    figure.update_layout(margin=MARGINS, height=380, xaxis_title=question, yaxis_title="share of the people, in %")
    figure.update_xaxes(type="category", automargin=True, nticks=25)
    top = own.sort_values("estimate").iloc[-1]
    return (
        figure,
        f"Estimated shares of {question}; the largest is {100 * top['estimate']:.3g} percent for {top['answer']}.",
    )


def barrier(runs: Sequence[MeasuredBarrier]) -> tuple[go.Figure, str]:
    """The error of a parity: bound and measured, from conjunctions and asked directly."""
    bits = [one.bits for one in runs]
    figure = go.Figure()
    for name, values, color, dash in (
        ("bound, from conjunctions", [one.bound for one in runs], GREY, "dash"),
        ("measured, from conjunctions", [one.from_conjunctions for one in runs], DARK, "solid"),
        ("measured, the parity asked directly", [one.asked_directly for one in runs], MIDDLE, "dot"),
    ):
        figure.add_scatter(
            x=bits, y=[100 * max(value, 1e-4) for value in values], mode="lines+markers", name=name,
            line={"color": color, "dash": dash, "width": 3}, hovertemplate="%{x} bits: %{y:.3g} %<extra></extra>",
        )  # fmt: skip
    figure.update_layout(
        margin=MARGINS, height=340, xaxis_title="bits of the parity (s)", yaxis_title="error, in % of the people",
        legend={"orientation": "h", "y": -0.3},
    )  # fmt: skip
    figure.update_yaxes(type="log", dtick="D2", tickformat="~g")
    last = runs[-1]
    return figure, (
        f"Errors of parities of 1 to {last.bits} bits: from conjunctions {100 * last.from_conjunctions:.3g} percent at "
        f"the end, bounded by {100 * last.bound:.3g}, asked directly {100 * last.asked_directly:.3g}."
    )
