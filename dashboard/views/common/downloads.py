"""The files of a release, and what files are called after."""

from __future__ import annotations

import re
from collections.abc import Callable

import streamlit as st

from core.base.wording import amount
from core.release.copies.combining import LIMIT
from core.release.release import Release
from core.release.reports.imprint import Imprint
from dashboard.views.common import messages

MADE = {"release.zip", "report.pdf", "datacite.json", "registry.yaml"}
"""Files that are made from a release when they are wanted, whatever its version."""
FIRST = "CSV"
TITLE_WIDTH = 95
"""Pixels: the buttons of all groups begin below each other."""


def stem_of(title: str) -> str:
    """A title as the beginning of file names: without signs that a shell or a disk might take for something else.

    >>> stem_of("Visits: 2024/25!"), stem_of("…")
    ('Visits-2024-25', '')
    """
    return re.sub(r"[^\w-]+", "-", title).strip("-")


def show(release: Release, name: str, imprint: Imprint | None = None) -> None:
    """Files from the stored bytes; a click only reads them. The reports name who publishes, where that is known."""
    said = imprint or Imprint()
    stem = stem_of(name) or "release"

    def certificate() -> bytes:
        return release.certificate.write().encode()

    # Releases of older versions have fewer files, and an empty list where their records answer alone.
    held = set(release.files) - (set() if "tables.parquet" in release.files or release.tables else {"tables.csv"})
    parquet = "application/vnd.apache.parquet"
    groups: dict[str, list[tuple[str, Callable[[], bytes | str], str, str]]] = {
        "Records": [
            (FIRST, release.csv, "synthetic.csv", "text/csv"),
            ("Parquet", release.parquet, "synthetic.parquet", parquet),
        ],
        "Tables": [
            ("Noisy tables", release.tables_csv, "tables.csv", "text/csv"),
            ("Noisy tables (Parquet)", release.tables_parquet, "tables.parquet", parquet),
        ],
        "To read": [
            ("Report", lambda: release.report(imprint), "report.html", "text/html"),
            ("Report (PDF)", lambda: release.pdf(said), "report.pdf", "application/pdf"),
            ("Certificate", certificate, "certificate.json", "application/json"),
        ],
        "To work with": [
            ("Notebook", release.notebook, "notebook.ipynb", "application/x-ipynb+json"),
            ("Script", release.script, "reproduce.py", "text/x-python"),
        ],
        "To catalogue": [
            ("Metadata (Croissant)", lambda: release.croissant(said), "croissant.json", "application/ld+json"),
            ("Metadata (DataCite)", lambda: release.datacite(said), "datacite.json", "application/json"),
            ("Registry draft", lambda: release.registry_record(said), "registry.yaml", "text/yaml"),
        ],
        "All of it": [("Everything (ZIP)", lambda: release.zip(imprint), "release.zip", "application/zip")],
    }
    for title, wanted in groups.items():
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(title, width=TITLE_WIDTH)
            for label, content, ending, kind in wanted:
                if ending in held | MADE:
                    st.download_button(
                        label,
                        content,
                        file_name=f"{stem}-{ending}",
                        mime=kind,
                        type="primary" if label == FIRST else "secondary",
                        icon=":material/download:",
                        on_click="ignore",
                        key=f"download-{ending}",
                    )
    copies = release.certificate.copies
    more = (
        f" The ZIP also has {amount(copies)} copies, and a script that makes intervals from them. {LIMIT}"
        if copies
        else ""
    )
    messages.note(f"Every file may be given to anyone.{more}", "released")
