"""A recognisable value for every cell of a private table, and where to look for it when something has gone wrong."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator

import pandas as pd
from streamlit.testing.v1 import AppTest

from core.schema.domain import Booleans, Categories, Domain, Integers, Reals

WORD = "canary7c1f"
NUMBER = 739184620
MARKS = (WORD, str(NUMBER), f"{NUMBER:,}")
"""As it stands in a cell, and as a page would print it."""

DOMAIN = Domain(
    (
        Categories(name="town", values=("Aa", "Bb"), other="elsewhere"),
        Integers(name="age", low=0, high=99, bins=5, missing=True),
        Reals(name="weight", low=0, high=150, bins=4, missing=True),
        Booleans(name="ill"),
    )
)
"""A schema that none of the cells fits."""


def frame(rows: int = 40) -> pd.DataFrame:
    """Every cell of every row is the canary."""
    return pd.DataFrame(
        {
            "id": [f"{WORD}-{row}" for row in range(rows)],
            "town": [WORD] * rows,
            "age": [NUMBER] * rows,
            "weight": [NUMBER + 0.5] * rows,
            "ill": [WORD] * rows,
        }
    )


def hits(text: str) -> list[str]:
    return [mark for mark in MARKS if mark in text]


def told(problem: BaseException | None) -> Iterator[str]:
    """Everything that an exception carries: its texts and parts, and the same of what caused it or was on its way."""
    seen: set[int] = set()
    waiting = [problem]
    while waiting:
        error = waiting.pop()
        if error is None or id(error) in seen:
            continue
        seen.add(id(error))
        yield from (str(error), repr(error), repr(error.args), repr(getattr(error, "__notes__", "")))
        yield repr({name: value for name, value in vars(error).items() if isinstance(value, str | bytes | tuple)})
        if isinstance(error, UnicodeError):
            yield repr(getattr(error, "object", ""))
        waiting += [error.__cause__, error.__context__, *getattr(error, "exceptions", ())]


def unpacked(content: bytes) -> str:
    """A file as text, and each member of an archive."""
    parts = [content]
    if zipfile.is_zipfile(io.BytesIO(content)):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            parts += [archive.read(name) for name in archive.namelist()]
            if "synthetic.parquet" in archive.namelist():
                parts.append(pd.read_parquet(io.BytesIO(archive.read("synthetic.parquet"))).to_csv().encode())
    return "\n".join(part.decode("utf-8", "replace") for part in parts)


def page_text(app: AppTest) -> str:
    """Everything that the browser was sent: every element with all its fields, tables included."""
    sent = [str(getattr(element, "proto", "")) for element in app._tree]  # type: ignore[attr-defined]
    frames = [found.value.to_csv() for found in app.dataframe]
    return "\n".join([*sent, *frames, str(app.exception)])
