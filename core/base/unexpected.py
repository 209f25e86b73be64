"""Errors that nobody foresaw: their kind and their place go to the log, and nothing that could quote a value."""

from __future__ import annotations

import logging
import traceback
from pathlib import Path

LOG = logging.getLogger("release_desk")
ROOT = Path(__file__).resolve().parents[2]
MOST_PLACES = 8
"""Calls that are kept of a long chain, the innermost ones."""


def noted(problem: BaseException) -> str:
    """The kind of an unforeseen error, after its kind, files and lines were written to the log.

    Its text stays out: it may quote a private value. So do lines of code, which a traceback would print beside values.
    """
    kind = type(problem).__name__
    LOG.error("unexpected %s at %s", kind, " < ".join(_places(problem)) or "an unknown place")
    return kind


def _places(problem: BaseException) -> list[str]:
    """File and line of each call, the innermost first."""
    calls = list(traceback.walk_tb(problem.__traceback__))[-MOST_PLACES:]
    return [f"{_short(Path(frame.f_code.co_filename))}:{line}" for frame, line in reversed(calls)]


def _short(file: Path) -> str:
    """Within this project as it is named there, elsewhere by the end of its path."""
    return file.relative_to(ROOT).as_posix() if file.is_relative_to(ROOT) else "/".join(file.parts[-3:])
