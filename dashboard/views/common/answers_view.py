"""What a release says about each of its query classes; all of it is computed from the stored release."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from core.base.errors import DeskError
from core.base.wording import amount
from core.queries.halfspaces import Halfspaces
from core.queries.intervals import Intervals
from core.queries.kit.protocol import QueryClass, words_of
from core.queries.rectangles import Rectangles
from core.queries.statistics import Statistics
from core.queries.unions import Unions
from core.registry import query_from_json
from core.release.release import Release
from dashboard.views.common import charts, messages

MOST_LISTED = 500
"""Answers shown; a class may have a million."""
MOST_GROUPS = 40
"""Groups that are drawn; the table has all of them."""
DRAWN = ("mean", "median", "sum", "number")
MEDIANS = "By medians"
MOST_STEPS = 1_000
"""Values between which a slider steps."""


def show(release: Release, plan_id: str) -> None:
    """One class at a time, drawn or listed; tables of counts have a chart of their own."""
    asked = [query_from_json(line) for line in release.certificate.queries]
    asked = [query for query in asked if query.name != "marginals"]
    if not asked:
        return
    st.subheader("Answers", divider="gray")
    place = 0
    if len(asked) > 1:
        place = st.selectbox(
            "Of",
            range(len(asked)),
            format_func=lambda at: asked[at].sentence(release.domain),
            key=f"answers-{plan_id}",
        )
    query = asked[place]
    said = query.sentence(release.domain)
    messages.note(f"{messages.plain(said[:1].upper() + said[1:])}.", "released")
    key = f"{plan_id}-{place}"
    if isinstance(query, Statistics):
        _by_group(release, query, key)
    elif isinstance(query, Intervals | Unions):
        _ranges(release, query.column, key)
    elif isinstance(query, Rectangles):
        _share(release, query.columns, key)
    else:
        _listed(release, query, key)


def _by_group(release: Release, query: Statistics, key: str) -> None:
    """One statistic of every group with its interval as a figure, and all of them as a table."""
    frame = release.statistics(query)
    if frame.empty:
        st.info("There are too many groups to list them here; the released tables have their counts.")
        return
    what = st.segmented_control("Statistic", DRAWN, default=DRAWN[0], key=f"statistic-{key}") or DRAWN[0]
    figure, alt = charts.by_group(frame.head(MOST_GROUPS), what, query.column)
    st.plotly_chart(figure, alt=alt, key=f"by-group-{key}", config={"displaylogo": False})
    if source := str(frame["intervals"].iloc[0]):
        messages.note(f"Intervals are {source}. A row counts at the middle of its bin.", "released")
    shown = frame.drop(columns=["column", "intervals"])
    numbers = shown.select_dtypes("number").columns
    # As exactly as it is of use: the files have every digit.
    shown[numbers] = shown[numbers].map(lambda value: float(f"{value:.4g}"))
    st.dataframe(
        shown,
        hide_index=True,
        column_config={name: st.column_config.NumberColumn(format="localized") for name in numbers},
        alt="Statistics by group with the ends of their intervals.",
    )


def _ranges(release: Release, column: str, key: str) -> None:
    """The running share of an ordered column, and the share between two values of it."""
    attribute = release.domain[column]
    figure, alt = charts.running(attribute, release.marginal((column,)))
    st.plotly_chart(figure, alt=alt, key=f"running-{key}", config={"displaylogo": False})
    _share(release, (column,), key)


def _share(release: Release, columns: tuple[str, ...], key: str) -> None:
    """The released answer to one question: rows between two values of each column."""
    table = release.marginal(columns)
    total = float(table.sum())
    for axis, column in enumerate(columns):
        attribute = release.domain[column]
        places = charts.spread(attribute.regular, MOST_STEPS)
        first, last = st.select_slider(
            f"{messages.plain(column)} between",
            places,
            (places[len(places) // 4], places[len(places) // 2]),
            format_func=attribute.label,
            key=f"between-{key}-{column}",
        )
        table = np.take(table, range(first, last + 1), axis=axis)
    share = float(table.sum()) / total if total > 0 else 0.0
    st.metric("Share of the rows", f"{100 * share:.1f} %", border=True)
    messages.note("The answer of the release; the certificate says what error to expect.", "released")


def _listed(release: Release, query: QueryClass, key: str) -> None:
    try:
        frame, every = _answers(key, release, query)
    except DeskError as problem:
        st.info(messages.sentence(problem))
        return
    st.dataframe(
        frame,
        hide_index=True,
        height=min(38 + 35 * len(frame), 400),
        column_config={
            "Share": st.column_config.NumberColumn(format="percent", width=90),
            MEDIANS: st.column_config.NumberColumn(format="percent", width=110),
        },
        alt="The released answers: one line per question, with the share of the rows.",
    )
    if MEDIANS in frame:
        messages.note(f"'{MEDIANS}' is the answer of the paper's mechanism; 'Share' that of the records.", "released")
    if every > len(frame):
        messages.note(f"{amount(len(frame))} of {amount(every)} answers.", "released")


@st.cache_data(max_entries=16, show_spinner="Computing the answers …", scope="session")
def _answers(key: str, _release: Release, _query: QueryClass) -> tuple[pd.DataFrame, int]:
    """Some answers from all over the class, and how many there are."""
    found = _release.answers(_query)
    places = charts.spread(len(found), MOST_LISTED)
    words = [words_of(_query, _release.domain, place) for place in places]
    frame = pd.DataFrame({"Question": words, "Share": found[places]})
    planes = _release.planes(_query) if isinstance(_query, Halfspaces) else None
    if planes is not None:
        frame[MEDIANS] = planes["median"].to_numpy()[places] / max(1.0, float(_release.marginal(()).sum()))
    return frame, len(found)
