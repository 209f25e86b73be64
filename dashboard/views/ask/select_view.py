"""The answer to a SELECT: numbers with their intervals, as a table and as bars."""

from __future__ import annotations

import math

import streamlit as st

from core.base.wording import plural
from core.formulas.sql.estimates import SelectNumber
from core.formulas.sql.statement import headings
from core.sessions.select_answer import SelectAnswer, SelectRow
from dashboard.views.common import charts, messages
from dashboard.views.common.wording import percent

WIDE = (
    "Intervals are wide where a session is sure of its synthetic table only as far as it was tested. The numbers are "
    "usually much nearer. About a few groups a session with fresh noise for every question tells more for the same "
    "budget; so does a larger epsilon."
)


def show(answer: SelectAnswer, key: str, *, free: bool, stays: bool) -> None:
    """`free`: answered from a release, where nothing is hard and nothing has a limit. `stays`: the same whenever it is
    asked; what a visitor was told without a measurement follows what the session learns."""
    with st.container(border=True):
        if answer.columns:
            _groups(answer, key)
        else:
            _single(answer)
        _promise(answer)
        if (
            answer.left is not None
            and not answer.hard
            and any(_wide(number) for row in answer.rows for number in row.estimates)
        ):
            messages.note(WIDE, "public")
        left = "no limit of hard answers" if answer.left is None else f"{plural(answer.left, 'hard answer')} left"
        took = "" if free else f", {answer.hard:,} of them hard; {left}"
        asked = f"It rests on {plural(answer.questions, 'question')}{took}."
        if not all(answer.counted):
            messages.note("In sums, averages and quantiles a row counts at the middle of its bin.", "public")
        again = "gives the same answer for free" if stays else "takes nothing"
        messages.note(f"{asked} Asking it again {again}.", "released")


def _single(answer: SelectAnswer) -> None:
    [row] = answer.rows
    for start in range(0, len(answer.titles), 4):
        titles = answer.titles[start : start + 4]
        for place, title, number in zip(st.columns(4), titles, row.estimates[start : start + 4], strict=False):
            place.metric(messages.plain(title), _text(number.value))
            if number.low is not None:
                place.caption(f"between {_text(number.low)} and {_text(number.high)}")


def _groups(answer: SelectAnswer, key: str) -> None:
    titles = list(answer.titles)
    shown = titles[0]
    if len(titles) > 1:
        shown = st.segmented_control(
            "Draw", titles, default=shown, required=True, format_func=messages.plain, key=f"select-drawn-{key}"
        )
    place = titles.index(shown) if shown in titles else 0
    numbers = [row.estimates[place] for row in answer.rows]
    ends = [None if each.low is None or each.high is None else (each.low, each.high) for each in numbers]
    figure, alt = charts.numbers(titles[place], _labels(answer.rows), [each.value for each in numbers], ends)
    st.plotly_chart(figure, alt=alt, key=f"select-chart-{key}", config={"displayModeBar": False})
    _table(answer)
    messages.note("Every group that the schema allows is listed, also one without rows.", "public")


def _table(answer: SelectAnswer) -> None:
    """Every number as exactly as it is of use: counts in whole rows, all others in four digits."""
    frame, formats = answer.frame(), {}
    ends = [name for title in answer.titles for name in headings(title)[1:]]
    # Where no number has an interval its columns would be empty.
    frame = frame.drop(columns=[name for name in ends if frame[name].isna().all()])
    for title, counted in zip(answer.titles, answer.counted, strict=True):
        for name in frame.columns.intersection(list(headings(title))):
            frame[name] = [_rounded(value, counted) for value in frame[name]]
            formats[name] = st.column_config.NumberColumn(format="localized")
    alt = f"{plural(len(answer.rows), 'group')} with every number."
    st.dataframe(frame, hide_index=True, column_config=formats, alt=alt)


def _rounded(number: float | None, counted: bool) -> float | None:
    if number is None or not math.isfinite(number):
        return None
    return float(round(number)) if counted or abs(number) >= 1_000 else float(f"{number:.4g}")


def _wide(number: SelectNumber) -> bool:
    """Whether an interval is as long as its number is large."""
    if number.value is None or number.low is None or number.high is None:
        return False
    return number.high - number.low >= abs(number.value) > 0


def _labels(rows: tuple[SelectRow, ...]) -> list[str]:
    return [", ".join(row.labels) for row in rows]


def _promise(answer: SelectAnswer) -> None:
    """How often the intervals hold: that of the weakest number, by title."""
    for place, title in enumerate(answer.titles):
        known = [row.estimates[place].confidence for row in answer.rows]
        least = min((each for each in known if each is not None), default=None)
        if least is None or None in known:
            promise = "no error is promised where no interval is shown"
        else:
            promise = f"each truth is within its interval at least {percent(least)} of the time"
        messages.note(f"{messages.plain(title)}: {promise}.", "released")


def _text(number: float | None) -> str:
    return "none" if number is None else f"{number:,.0f}" if abs(number) >= 1_000 else f"{number:,.4g}"
