"""A small public table that is typed, pasted or uploaded: one line each, parts separated by commas."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import Any

import streamlit as st

from core.base.options import Option
from core.base.wording import amount
from core.schema.domain import Domain

MOST_CHARACTERS = 4_000_000
MOST_LINES = 200_000


def lines(option: Option, domain: Domain, key: str, values: Mapping[str, Any]) -> tuple[tuple[Any, ...], ...]:
    """The lines that were entered, numbers as numbers; what is wrong with them is for the decision to say.

    What may be left out is folded away.
    """
    if option.required:
        return _entered(option, key)
    with st.expander(f"{option.label} (may be left out)", icon=":material/table_rows:"):
        return _entered(option, key)


def _entered(option: Option, key: str) -> tuple[tuple[Any, ...], ...]:
    given = st.file_uploader(f"{option.label}: a CSV file", type="csv", key=f"{key}-file")
    typed = st.text_area(
        f"{option.label}, or typed: {', '.join(option.choices)}",
        key=key,
        help=option.help,
        placeholder="\n".join(", ".join(f"{part} {place}" for part in option.choices) for place in (1, 2)),
        persist_state="session",
    )
    text = typed if given is None else given.getvalue().decode("utf-8", errors="replace")
    if len(text) > MOST_CHARACTERS:
        st.error(f"{option.label}: at most {amount(MOST_CHARACTERS)} characters.", icon=":material/error:")
        return ()
    return read_lines(text, option.choices)


def read_lines(text: str, names: tuple[str, ...]) -> tuple[tuple[Any, ...], ...]:
    """Lines of comma-separated parts, without a heading that repeats the names.

    >>> read_lines("site, x, y\\nnorth, 1, 2.5", ("site", "x", "y"))
    (('north', 1, 2.5),)
    """
    found: list[tuple[Any, ...]] = []
    for place, line in enumerate(csv.reader(io.StringIO(text), skipinitialspace=True)):
        parts = [part.strip() for part in line]
        if not any(parts) or (place == 0 and [part.lower() for part in parts] == list(names)):
            continue
        if len(found) == MOST_LINES:
            break
        found.append((parts[0], *(_number(part) for part in parts[1:])))
    return tuple(found)


def _number(part: str) -> Any:
    for read in (int, float):
        try:
            return read(part)
        except ValueError:
            continue
    return part
