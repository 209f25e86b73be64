"""A release at a glance: one score, every column, every pair, and the numbers that people ask for.

Everything but what was measured privately is exact, so it is a figure or plain text that offers no file.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import cast

import numpy as np
import streamlit as st

from core.base.wording import plural
from core.desk.desk import Desk
from core.planning.quality import learning, summaries
from core.planning.quality.learning import Lesson
from core.planning.quality.quality import Quality, judge
from core.planning.quality.summaries import ComparedNumber
from core.plans.statements import DeskTable
from core.release.release import Release
from dashboard.views.accuracy import plain_table, quality_charts
from dashboard.views.common import measured_view, messages

STATUS: messages.Visibility = "curator only"
SIDES: dict[str, quality_charts.Side] = {
    "Distance": "distance",
    "Association in the table": "truth",
    "Association in the release": "released",
}
STRONGEST = 10
WORST = 5


def show(desk: Desk, table: DeskTable, plan_id: str, release: Release) -> None:
    st.header("Quality at a glance", divider="gray")
    quality = _quality(desk, table, plan_id, release)
    _score(quality, release)
    _columns(quality)
    if quality.pairs:
        _pairs(quality, plan_id)
    _numbers(desk, table, plan_id, release)
    _lesson(desk, table, plan_id, release)


@st.cache_resource(scope="session", max_entries=5, show_spinner="Comparing all pairs of columns …")
def _quality(_desk: Desk, _table: DeskTable, plan_id: str, _release: Release) -> Quality:
    return judge(_desk.truth(_table), _release)


def _score(quality: Quality, release: Release) -> None:
    score, meaning = st.columns([1, 3], vertical_alignment="center")
    score.metric("Score, of 100", f"{quality.score:.1f}", border=True)
    with meaning:
        messages.note(quality.meaning(), STATUS)
        if quality.unseen:
            messages.note(
                f"{plural(quality.unseen, 'column or pair')} beyond the first or too large: left out.", STATUS
            )
    if lost := quality.lost():
        st.warning(messages.plain(lost), icon=":material/warning:")
    if release.measured is not None:
        with st.container(border=True):
            st.markdown("**Measured privately, so it may be told**")
            measured_view.show(release)


def _columns(quality: Quality) -> None:
    st.subheader("Every column")
    half = -(-len(quality.columns) // 2)
    for place, part in zip(st.columns(2), (quality.columns[:half], quality.columns[half:]), strict=True):
        if part:
            figure, alt = quality_charts.columns(part, quality_charts.lines_of(quality.columns[:half]))
            key = f"quality-columns-{part[0].name}"
            place.plotly_chart(figure, alt=alt, key=key, config={"displayModeBar": False})
    messages.note(
        "Shares of the rows by value: dark is the table, pale the release. Beside the name: rows to be moved.",
        STATUS,
    )


def _pairs(quality: Quality, plan_id: str) -> None:
    st.subheader("Every pair of columns")
    side = st.segmented_control("Show", list(SIDES), default="Distance", key=f"quality-side-{plan_id}") or "Distance"
    names = [column.name for column in quality.columns]
    figure, alt = quality_charts.pairs(names, quality.pairs, SIDES[side])
    st.plotly_chart(figure, alt=alt, key="quality-pairs", config={"displayModeBar": False})
    messages.note(
        "Distance: rows that would have to be moved to another cell of the pair's table, in percent. "
        "Association: Cramér's V, 0 where two columns tell nothing about each other, 1 where one tells the other.",
        STATUS,
    )
    lines = [
        {
            "Pair": " and ".join(pair.columns),
            "Rows to be moved": f"{100 * pair.distance:.1f} %",
            "With exact columns alone": f"{100 * pair.alone:.1f} %",
            "Association, true": f"{pair.truth:.2f}",
            "Association, released": f"{pair.released:.2f}",
        }
        for pair in quality.worst(WORST)
    ]
    plain_table.show(lines, "The pairs of columns that are furthest off.")
    messages.note(f"The {plural(len(lines), 'pair')} that are furthest off.", STATUS)


@st.cache_resource(scope="session", max_entries=5, show_spinner=False)
def _compared(
    _desk: Desk, _table: DeskTable, plan_id: str, _release: Release
) -> tuple[tuple[ComparedNumber, ...], tuple[ComparedNumber, ...]]:
    truth = _desk.truth(_table)
    return summaries.numbers_of(truth, _release), summaries.correlations_of(truth, _release)


def _numbers(desk: Desk, table: DeskTable, plan_id: str, release: Release) -> None:
    numbers, correlations = _compared(desk, table, plan_id, release)
    if not numbers:
        return
    st.subheader("Means, quartiles and correlations")
    by_column = [tuple(group) for _, group in groupby(numbers, key=lambda number: number.columns)]
    plain_table.show([_mean_line(table, each[0]) for each in by_column], "Means, true and released.")
    plain_table.show([_quartile_line(table, each[1:]) for each in by_column], "Quartiles, true and released.")
    inside = sum(number.inside for number in numbers)
    messages.note(
        f"{inside} of {plural(len(numbers), 'released number')} lie in the sampling interval: where a table of as many "
        "rows from the same population would have it, 95 % of the time. Values are middles of bins.",
        STATUS,
    )
    if correlations:
        strongest = correlations[:STRONGEST]
        plain_table.show([_pair_line(number) for number in strongest], "Correlations, true and released.")
        inside = sum(number.inside for number in correlations)
        messages.note(
            f"The strongest of {plural(len(correlations), 'correlation')} between columns of numbers or dates; "
            f"{inside} of all lie in the sampling interval.",
            STATUS,
        )


def _mean_line(table: DeskTable, mean: ComparedNumber) -> dict[str, str]:
    attribute = table.domain[mean.columns[0]]
    return {
        "Column": attribute.name,
        "Mean": summaries.shown(attribute, mean.truth),
        "Sampling interval": f"{summaries.shown(attribute, mean.low)} to {summaries.shown(attribute, mean.high)}",
        "Released": summaries.shown(attribute, mean.released),
        "Inside": _inside(mean),
    }


def _quartile_line(table: DeskTable, quartiles: Sequence[ComparedNumber]) -> dict[str, str]:
    """All three in one cell: few lines, also of many columns."""
    attribute = table.domain[quartiles[0].columns[0]]
    return {
        "Column": attribute.name,
        "Quartiles": " · ".join(summaries.shown(attribute, each.truth) for each in quartiles),
        "Released": " · ".join(summaries.shown(attribute, each.released) for each in quartiles),
        "Inside": f"{sum(number.inside for number in quartiles)} of {len(quartiles)}",
    }


def _inside(number: ComparedNumber) -> str:
    return "yes" if number.inside else "no"


def _pair_line(number: ComparedNumber) -> dict[str, str]:
    return {
        "Columns": " and ".join(number.columns),
        "Correlation": f"{number.truth:+z.2f}",
        "Sampling interval": f"{number.low:+z.2f} to {number.high:+z.2f}",
        "Released": f"{number.released:+z.2f}",
        "Inside": _inside(number),
    }


def _lesson(desk: Desk, table: DeskTable, plan_id: str, release: Release) -> None:
    st.subheader("Train on synthetic, test on real")
    st.write("A model learns to predict a column from the others: once from the release, once from half of the table.")
    key = f"lesson-{plan_id}"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        target = st.selectbox("Column to predict", table.domain.names, index=len(table.domain) - 1, key=f"{key}-target")
        pressed = st.button("Try it", icon=":material/school:", key=f"{key}-go")
    if pressed:
        with messages.guarded(), st.spinner("Learning …"):
            st.session_state[f"{key}-found"] = _learnt(desk, table, release, target)
    found = cast(Lesson | None, st.session_state.get(f"{key}-found"))
    if found is not None:
        messages.note(messages.plain(found.sentence()), STATUS)


def _learnt(desk: Desk, table: DeskTable, release: Release, target: str) -> Lesson:
    codes, often = desk.truth(table).combinations(table.domain.names)
    return learning.learn(
        table.domain, np.repeat(codes, often, axis=0), release.points.codes, target, np.random.default_rng()
    )
