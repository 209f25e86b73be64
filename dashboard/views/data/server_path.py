"""Files that lie on the server already: only inside folders that whoever runs the dashboard has named."""

from __future__ import annotations

import os
from pathlib import Path

from core.base.errors import BadFile, Refused
from core.table.files import ParquetFiles
from dashboard.door import access

VARIABLE = "RELEASE_DESK_PATHS"
OFF = (
    f"Paths on the server are switched off; whoever runs this dashboard can name folders in {VARIABLE}, or you upload "
    "the file."
)


def folders() -> list[Path]:
    """The folders that may be read, none in demo mode."""
    if access.demo():
        return []
    named = [part.strip() for part in os.environ.get(VARIABLE, "").split(os.pathsep)]
    return [Path(part).expanduser().resolve() for part in named if part]


def allowed(text: str) -> Path:
    """The file that was named, if it lies in such a folder; links out of one lead nowhere."""
    within = folders()
    if not within:
        raise Refused(OFF)
    try:
        path = Path(text.strip())
        found = (path if path.is_absolute() else within[0] / path).resolve()
    except (OSError, ValueError, RuntimeError):
        raise BadFile("This is no path; write it as /folder/file.csv.") from None
    # Before anything is said about the file: whether others exist is nobody's business.
    _check_inside(found, within)
    return found


def several(place: Path) -> ParquetFiles | None:
    """The Parquet files of a folder or a pattern, each of them inside as well; None where a place names one file."""
    found = ParquetFiles.of(place)
    for path in () if found is None else found.paths:
        _check_inside(path, folders())
    return found


def _check_inside(path: Path, within: list[Path]) -> None:
    if not any(path.is_relative_to(folder) for folder in within):
        raise Refused(f"This path is outside the folders that {VARIABLE} names; choose a file inside one of them.")
