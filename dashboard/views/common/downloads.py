"""The files of a release."""

from __future__ import annotations

import streamlit as st

from core.base.wording import amount
from core.release.release import Release
from core.release.reports.imprint import Imprint
from dashboard.views.common import messages

MADE = {"release.zip", "report.pdf", "datacite.json", "registry.yaml"}
"""Files that are made from a release when they are wanted, whatever its version."""


def show(release: Release, name: str, imprint: Imprint | None = None) -> None:
    """Files from the stored bytes; a click only reads them. The reports name who publishes, where that is known."""
    said = imprint or Imprint()
    stem = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in name) or "release"

    def certificate() -> bytes:
        return release.certificate.write().encode()

    # Releases of older versions have fewer files, and an empty list where their records answer alone.
    held = set(release.files) - (set() if "tables.parquet" in release.files or release.tables else {"tables.csv"})
    with st.container(horizontal=True):
        for label, content, ending, kind, emphasis in (
            ("CSV", release.csv, "synthetic.csv", "text/csv", "primary"),
            ("Parquet", release.parquet, "synthetic.parquet", "application/vnd.apache.parquet", "secondary"),
            ("Noisy tables", release.tables_csv, "tables.csv", "text/csv", "secondary"),
            (
                "Noisy tables (Parquet)",
                release.tables_parquet,
                "tables.parquet",
                "application/vnd.apache.parquet",
                "secondary",
            ),
            ("Certificate", certificate, "certificate.json", "application/json", "secondary"),
            ("Report", lambda: release.report(imprint), "report.html", "text/html", "secondary"),
            ("Report (PDF)", lambda: release.pdf(said), "report.pdf", "application/pdf", "secondary"),
            ("Metadata (Croissant)", release.croissant, "croissant.json", "application/ld+json", "secondary"),
            ("Metadata (DataCite)", lambda: release.datacite(said), "datacite.json", "application/json", "secondary"),
            ("Registry draft", lambda: release.registry_record(said), "registry.yaml", "text/yaml", "secondary"),
            ("Notebook", release.notebook, "notebook.ipynb", "application/x-ipynb+json", "secondary"),
            ("Script", release.script, "reproduce.py", "text/x-python", "secondary"),
            ("Everything (ZIP)", release.zip, "release.zip", "application/zip", "secondary"),
        ):
            if ending not in held | MADE:
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
    copies = release.certificate.copies
    more = f" The ZIP also has {amount(copies)} copies, and a script that makes intervals from them." if copies else ""
    messages.note(f"Every file may be given to anyone.{more}", "released")
