"""Whether a table is too small for what is asked: told before it is paid for, and again of what came out."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.base.wording import plural
from core.planning.room_for_noise import moved_share, too_small
from core.plans.statements import DeskTable
from core.queries.kit.protocol import QueryClass
from core.release.listing import name_of
from core.release.release import Release
from dashboard.views.common import messages


def before(table: DeskTable, queries: Sequence[QueryClass], error: float) -> bool:
    """From the exact number of rows, so for the curator alone; says whether it warned."""
    said = too_small(moved_share(queries, table.domain, error, table.notes["rows"]))
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
        with st.expander(f"{plural(len(doubtful), 'table')} mostly noise: associations there cannot be trusted"):
            st.write(messages.plain("; ".join(name_of(columns) for columns in doubtful)))
