"""Whether a table is too small for what is asked: told before it is paid for, and again of what came out."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import streamlit as st

from core.base.arrays import Columns
from core.base.wording import amount, plural
from core.planning.room_for_noise import moved_in_tables, too_few_for_answers, too_small
from core.planning.simulation.expected_error import Figure
from core.plans.statements import DeskTable
from core.queries.kit.focus import asked_tables
from core.queries.kit.protocol import QueryClass
from core.registry import query_from_json
from core.release.listing import name_of
from core.release.release import Release
from dashboard.views.common import messages

MANY = 0.5
"""The part of the tables that were asked for from which on noise in them is a warning of its own."""


def before(table: DeskTable, queries: Sequence[QueryClass], told: Figure) -> bool:
    """From the exact number of rows, so for the curator alone; says whether it warned."""
    moved = moved_in_tables(queries, table.domain, told.mean, told.counts, table.notes["rows"])
    return _warned(too_small(moved))


def before_session(table: DeskTable, error: float) -> bool:
    """The same of a session's answers."""
    return _warned(too_few_for_answers(error, table.notes["rows"]))


def _warned(said: str | None) -> bool:
    if said:
        st.warning(said, icon=":material/warning:")
        messages.note("By the exact number of rows.", "curator only")
    return said is not None


def after(release: Release) -> None:
    """From the release alone: anybody may be told."""
    if said := release.caution():
        st.warning(said, icon=":material/warning:")
        messages.note("By the released number of rows and the error that the certificate expects.", "released")
    if doubtful := release.certificate.doubtful:
        which, many = noisy(doubtful, _asked(release))
        said = f"{which} with mostly noise: associations there cannot be trusted"
        if many:
            st.warning(f"{said}. Counts of single columns may still be right.", icon=":material/warning:")
            said = "Which tables"
        with st.expander(said):
            st.write(messages.plain("; ".join(name_of(columns) for columns in doubtful)))


def noisy(doubtful: Collection[Columns], asked: Collection[frozenset[str]]) -> tuple[str, bool]:
    """Which tables are mostly noise, counted among those that were asked for, and whether they are many of these.

    >>> noisy([("a", "b"), ("a", "b", "c")], {frozenset("ab"), frozenset("ac"), frozenset("bc")})
    ('1 of 3 tables', False)
    >>> noisy([("a", "b", "c")], {frozenset("ab")})
    ('1 further table', False)
    """
    found = sum(frozenset(columns) in asked for columns in doubtful)
    which = f"{amount(found)} of {plural(len(asked), 'table')}" if found else plural(len(doubtful), "further table")
    return which, found > 0 and found >= MANY * len(asked)


def _asked(release: Release) -> frozenset[frozenset[str]]:
    """The tables that were asked for; others may be listed because they were measured for these."""
    queries = map(query_from_json, release.certificate.queries)
    return frozenset(frozenset(columns) for query in queries for columns in asked_tables(query, release.domain))
