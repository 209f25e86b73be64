"""Labels in a file of Stata or SPSS as its code book, where the curator says that they come from the questionnaire."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from core.base.errors import BadSchema
from core.desk.desk import Desk
from core.table import files
from core.table.formats import survey_file
from dashboard.views.data.draft import Draft

SUFFIXES = (".dta", ".sav", ".zsav")
USE = "Use the labels in the file"
NOTE = "from the labels in the file"


def held(draft: Draft) -> bool:
    """Whether the file is of a kind that has such labels."""
    place = draft.copy or draft.path
    name = str(getattr(draft.file, "name", "") if place is None else place)
    return Path(name).suffix.lower() in SUFFIXES


def lines(draft: Draft, desk: Desk) -> list[dict[str, Any]]:
    """What the labels say about the columns of the draft."""
    with draft.unnamed_source(desk.folder) as source:
        kind = files.kind_of(source) if isinstance(source, Path) else ""
        if not isinstance(source, Path) or (kind != "stata" and kind != "spss"):
            raise BadSchema("The file has no labels of codes.")
        found = survey_file.code_book(source, kind)
    if not any("kind" in line for line in found):
        raise BadSchema("The file has no labels of codes; its columns stay as they are.")
    return found


def caution() -> None:
    st.caption(
        "This file may hold a label for every code of a column. They are public if they come from the questionnaire; "
        "some programs make such lists out of the rows, as when texts were turned into codes. Use them only in the "
        "first case."
    )
