"""The measured errors of a release: one figure, then every figure in words. All of it is in the certificate."""

from __future__ import annotations

import streamlit as st

from core.release.release import Release
from dashboard.views.common import messages

UNMEASURED = (
    "Nothing was spent on measuring this release, so nothing is said about the errors that its answers really have; "
    "the certificate says what to expect."
)


def show(release: Release) -> None:
    measured = release.measured
    if measured is None:
        messages.note(UNMEASURED, "public")
        return
    st.markdown(f"**{messages.plain(measured.headline())}**")
    for sentence in measured.sentences():
        st.markdown(f"- {messages.plain(sentence)}")
    messages.note(messages.plain(measured.note()), "released")
