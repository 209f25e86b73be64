"""Some of a release's synthetic records."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.base.wording import amount
from core.release.release import Release
from core.schema.domain import Dates
from dashboard.views.common import charts, messages

MOST = 200


def preview(release: Release) -> pd.DataFrame:
    """Records from all over the file, whatever its order."""
    records = release.records()
    return records.iloc[charts.spread(len(records), MOST)]


def show(release: Release, shown: pd.DataFrame) -> None:
    every = amount(release.certificate.synthetic_rows)
    messages.note(f"{amount(len(shown))} of the {every} records; no line belongs to a person.", "released")
    days = {column.name: st.column_config.DateColumn() for column in release.domain if isinstance(column, Dates)}
    st.dataframe(shown, hide_index=True, height=280, column_config=days, alt="Preview of the synthetic records.")
