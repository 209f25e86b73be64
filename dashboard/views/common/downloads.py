"""The files of a release."""

from __future__ import annotations

import streamlit as st

from core.release.release import Release
from dashboard.views.common import messages


def show(release: Release, name: str) -> None:
    """Files from the stored bytes; a click only reads them."""
    stem = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in name) or "release"

    def certificate() -> bytes:
        return release.certificate.write().encode()

    with st.container(horizontal=True):
        for label, content, ending, kind, emphasis in (
            ("CSV", release.csv, "synthetic.csv", "text/csv", "primary"),
            ("Parquet", release.parquet, "synthetic.parquet", "application/vnd.apache.parquet", "secondary"),
            ("Noisy tables", release.tables_csv, "tables.csv", "text/csv", "secondary"),
            ("Certificate", certificate, "certificate.json", "application/json", "secondary"),
            ("Report", release.report, "report.html", "text/html", "secondary"),
            ("Metadata", release.croissant, "croissant.json", "application/ld+json", "secondary"),
            ("Script", release.script, "reproduce.py", "text/x-python", "secondary"),
            ("Everything (ZIP)", release.zip, "release.zip", "application/zip", "secondary"),
        ):
            if ending == "tables.csv" and not release.tables:
                continue
            st.download_button(
                label,
                content,
                file_name=f"{stem}-{ending}",
                mime=kind,
                type=emphasis,  # type: ignore[arg-type]
                icon=":material/download:",
                on_click="ignore",
                key=f"download-{ending}",
            )
    messages.note("Every file may be given to anyone.", "released")
