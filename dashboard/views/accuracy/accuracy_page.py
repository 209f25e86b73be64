"""Exact errors of stored releases. Everything here is computed from private rows and none of it can be exported.

There is no download on this page, figures have no toolbar, and nothing is cached beyond the visitor's own session.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import streamlit as st

from core.base.errors import DeskError
from core.base.wording import rows
from core.desk.desk import Desk
from core.planning.scoring import Score, score
from core.plans.statements import DeskTable
from core.plans.terms import is_release
from core.queries.halfspaces import Halfspaces
from core.queries.kit.protocol import QueryClass
from core.registry import query_from_json
from core.release.release import Release
from dashboard.views.accuracy import accuracy_charts, plain_table, quality_view, session_check
from dashboard.views.budget import spend_list
from dashboard.views.common import charts, messages
from dashboard.views.common.wording import percent

MOST_COMPARED = 5
STATUS: messages.Visibility = "curator only"


@dataclass(frozen=True, kw_only=True)
class ComparedRelease:
    """One release beside the truth."""

    name: str
    release: Release
    queries: tuple[QueryClass, ...]
    scores: tuple[Score, ...]


def show(desk: Desk, table: DeskTable) -> None:
    st.warning(
        "Curator only. These figures are exact and private: do not copy them into anything that leaves this desk. "
        "Choosing between releases by them and publishing the choice would tell something about the table.",
        icon=":material/lock:",
    )
    stored = {
        entry.plan_id: spend_list.line(entry, table)
        for entry in desk.statement(table).entries
        if entry.status == "stored" and entry.dataset_id == table.id and is_release(entry)
    }
    if stored:
        _releases(desk, table, stored)
    else:
        st.info("This table has no stored release yet.", icon=":material/publish:")
        st.page_link("steps/plan.py", label="Plan a release", icon=":material/arrow_forward:")
    session_check.show(desk, table)


def _releases(desk: Desk, table: DeskTable, stored: Mapping[str, str]) -> None:
    chosen = st.multiselect(
        "Releases to compare",
        list(stored),
        default=list(stored)[:1],
        format_func=stored.__getitem__,
        max_selections=MOST_COMPARED,
        key=f"accuracy-{table.id}",
    )
    if not chosen:
        return
    place = 0
    if len(chosen) > 1:
        place = st.selectbox("Look closer at", range(len(chosen)), format_func=lambda at: stored[chosen[at]])
    compared = [_compared(desk, table, plan_id, stored[plan_id]) for plan_id in chosen]
    shown = compared[place]
    quality_view.show(desk, table, chosen[place], shown.release)
    _overview(table, compared)
    _worst(shown)
    _tables(desk, table, shown)
    _halfspaces(desk, table, shown)


@st.cache_resource(scope="session", max_entries=MOST_COMPARED, show_spinner="Comparing with the table …")
def _compared(_desk: Desk, _table: DeskTable, plan_id: str, name: str) -> ComparedRelease:
    release = _desk.result(plan_id)
    if release is None:
        raise DeskError("The stored release cannot be found.")
    queries = tuple(query_from_json(line) for line in release.certificate.queries)
    return ComparedRelease(
        name=name, release=release, queries=queries, scores=score(queries, _desk.truth(_table), release)
    )


def _expected(one: ComparedRelease) -> str:
    """What was told before; of several classes it is the mean, which may be far from each of them."""
    told = f"±{rows(one.release.certificate.expected_error['mean'])}"
    return told if len(one.scores) == 1 else f"{told}, mean of the classes"


def _overview(table: DeskTable, compared: list[ComparedRelease]) -> None:
    """One line per release and class, and how the errors are distributed."""
    exact = table.notes["rows"]
    st.header("Errors per query class", divider="gray")
    lines = [
        {
            "Class": found.sentence,
            "Mean error": f"{100 * found.mean:.3f} % (±{rows(found.mean * exact)})",
            "Largest error": f"{100 * found.largest:.3f} % (±{rows(found.largest * exact)})",
            "Expected mean": _expected(one),
            **({"Release": f"{place}. {one.name}"} if len(compared) > 1 else {}),
        }
        for place, one in enumerate(compared, start=1)
        for found in one.scores
    ]
    plain_table.show(lines, "Mean and largest error of each release and class.")
    messages.note("Exact errors, as shares of the table and in rows; what was expected is public.", STATUS)
    many = len(compared) > 1
    named = [
        (f"{place}. {found.name}" if many else found.name, found.errors)
        for place, one in enumerate(compared, start=1)
        for found in one.scores
    ]
    figure, alt = accuracy_charts.distribution(named)
    st.plotly_chart(figure, alt=alt, key="errors", config={"displayModeBar": False})
    messages.note("The share of the questions whose error is at most so large.", STATUS)


def _worst(one: ComparedRelease) -> None:
    st.header("The worst questions", divider="gray")
    for found in one.scores:
        listed = [
            {
                "Question": miss.words[:1].upper() + miss.words[1:],
                "True": f"{100 * miss.truth:.3f} %",
                "Released": f"{100 * miss.released:.3f} %",
                "Error": f"{100 * miss.error:.3f} %",
            }
            for miss in found.worst
        ]
        st.markdown(f"**{messages.plain(found.sentence)}**")
        plain_table.show(listed, "The ten worst answers, in words.")
        sampled = "" if found.listed else " of a random sample; the largest error above is over the whole class"
        messages.note(f"The ten largest errors{sampled}.", STATUS)


def _tables(desk: Desk, table: DeskTable, one: ComparedRelease) -> None:
    """Real and released counts side by side; for an ordered column also the running shares."""
    st.header("Counts side by side", divider="gray")
    columns = st.multiselect(
        "Columns",
        table.domain.names,
        default=list(table.domain.names[:1]),
        max_selections=2,
        key=f"side-by-side-{table.id}",
    )
    if not columns:
        return
    if table.domain.cells(columns) > charts.MOST_CELLS:
        st.info("These are too many counts to draw; choose fewer or smaller columns.", icon=":material/grid_on:")
        return
    real = np.asarray(desk.truth(table).marginal(columns), dtype=np.float64)
    released = one.release.marginal(columns)
    released = released * (real.sum() / max(released.sum(), 1e-9))
    figure, alt = accuracy_charts.side_by_side(table.domain, columns, real, released)
    st.plotly_chart(figure, alt=alt, key="counts", config={"displayModeBar": False})
    drawn = "Dark is the table, pale the release" if len(columns) == 1 else "Blue: too few, red: too many, pale: right"
    messages.note(f"{drawn}; the release is scaled to the table's number of rows.", STATUS)
    if len(columns) == 1 and table.domain[columns[0]].ordered:
        figure, alt, worst = accuracy_charts.running(table.domain[columns[0]], real, released)
        st.plotly_chart(figure, alt=alt, key="running", config={"displayModeBar": False})
        messages.note(f"Running shares; the shaded interval has the largest error, {percent(worst)}.", STATUS)


def _halfspaces(desk: Desk, table: DeskTable, one: ComparedRelease) -> None:
    """The error of halfspaces when points near the cut may be counted either way."""
    classes = [query for query in one.queries if isinstance(query, Halfspaces)]
    if not classes:
        return
    st.header("Halfspaces and their margin", divider="gray")
    margins = np.array([0.0, 0.01, 0.02, 0.05, 0.1, 0.2])
    for place, query in enumerate(classes):
        errors = np.array([query.margin_error(desk.truth(table), one.release, float(gamma)) for gamma in margins])
        figure, alt = accuracy_charts.margin(margins, errors)
        st.plotly_chart(figure, alt=alt, key=f"margin-{place}", config={"displayModeBar": False})
        messages.note(f"{messages.plain(query.sentence(table.domain))}: largest error by margin.", STATUS)
