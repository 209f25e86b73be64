"""The errors of a release: as measured, one figure and then all in words, else as expected; all in the certificate."""

from __future__ import annotations

import streamlit as st

from core.base.wording import rows
from core.release.release import Release
from dashboard.views.common import messages

UNMEASURED = "Expected, not measured"


def show(release: Release) -> None:
    measured = release.measured
    if measured is None:
        error = release.certificate.expected_error
        said = f"±{rows(error['mean'])} on average; all within ±{rows(error['worst'])}, 95 % of the time."
        messages.note(f"{UNMEASURED}: {messages.plain(error['about'])}: {said}", "public")
        return
    st.markdown(f"**{messages.plain(measured.headline())}**")
    for sentence in measured.sentences():
        st.markdown(f"- {messages.plain(sentence)}")
    messages.note(messages.plain(measured.note()), "released")
