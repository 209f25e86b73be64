"""A stored decision: what was decided, a picture, the promise and the files. All of it is released."""

from __future__ import annotations

import streamlit as st

from core.base.odds import odds
from core.release.decision_release import DecisionRelease
from dashboard.views.common import messages
from dashboard.views.common.downloads import stem_of
from dashboard.views.decide import decision_pictures


def show(stored: DecisionRelease, name: str) -> None:
    decided, certificate = stored.decided, stored.certificate
    st.subheader(messages.plain(decided.sentence))
    if decided.estimate is not None:
        messages.note(messages.plain(decided.estimate.sentence()), "released")
    messages.note(messages.plain(certificate["guarantee"]), "public")
    messages.note(odds(certificate["epsilon"], certificate["delta"], "the decision"), "public")
    if (drawn := decision_pictures.picture(stored)) is not None:
        figure, alt = drawn
        st.plotly_chart(figure, alt=alt, key=f"decision-{certificate['plan']}", config={"displayModeBar": False})
    st.dataframe(stored.lines(), hide_index=True, height=280, alt="The decision as a table.")
    _files(stored, name)
    with st.expander("Certificate", icon=":material/verified:"):
        st.json(dict(certificate))
        messages.note("Everything in the certificate is part of the decision.", "released")


def _files(stored: DecisionRelease, name: str) -> None:
    stem = stem_of(name) or "decision"
    with st.container(horizontal=True):
        for label, content, ending, kind in (
            ("JSON", stored.json, "decision.json", "application/json"),
            ("CSV", stored.csv, "decision.csv", "text/csv"),
            ("Certificate", stored.certificate_json, "certificate.json", "application/json"),
            ("Everything (ZIP)", stored.zip, "decision.zip", "application/zip"),
        ):
            st.download_button(
                label,
                content,
                file_name=f"{stem}-{ending}",
                mime=kind,
                icon=":material/download:",
                on_click="ignore",
                key=f"decision-{ending}",
            )
    messages.note("Every file may be given to anyone.", "released")
