"""Public samples: the schema of a file that everybody may see, read off its values.

This is the only place that reads bounds and categories off values, and it must never see the private table: the same
file is refused, and so is one that holds its rows, in whatever order, format or choice of columns. `same_rows.py` says
how rows are told from coincidence: what counts is how many rows of the sample meet records that the private table has
once, so that equal rows in small tables of categories are no reason to refuse.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import date
from typing import Any

from core.base.errors import BadSchema, Refused
from core.schema.attributes import MAX_CELLS, Booleans
from core.schema.others import other_than
from core.schema.spellings import EPOCH, days, integral, number, text_of
from core.table.row_source import Rows
from core.table.same_rows import RowSketch, same_rows
from core.table.sentences import without_cell_values
from core.table.source import TableSource, opened

NOTE = "read from a public sample"
MOST_CATEGORIES = 1_000
"""Texts with more different values are no categories; such a column is left to its curator."""
FINE = 1_000
"""Ranges of more whole numbers or days start with 100 bins."""

KEY = "public sample 00"
"""Of the hashes by which rows are compared; they are forgotten at once."""

CODE = re.compile("0[0-9]+")
"""A number that is written with a leading zero is a code."""


@without_cell_values
def describe(sample: TableSource, names: Sequence[str], *, private: TableSource) -> list[dict[str, Any]]:
    """Kind, bounds and categories of these columns, as far as the sample has them and they can be told.

    **Privacy** Nothing here is private as long as the sample is public; the private source is only compared with it.
    That a sample is refused depends on the private rows: it is said to the curator alone, and nothing else is.
    """
    with opened(sample) as rows, opened(private) as hidden:
        if rows.fingerprint() == hidden.fingerprint():
            raise Refused("This is the private table itself, not a public sample; its values must not be read off.")
        present = {column.name for column in rows.columns}
        shared = [name for name in names if name in present]
        if not shared:
            raise BadSchema("The sample has no column of the table; choose one with the same column names.")
        count = rows.take(shared)
        if count == 0:
            raise BadSchema("The sample has column names but no rows; it needs at least one row.")
        _check_apart(RowSketch.of(rows, shared, count, KEY), hidden, shared)
        lines = []
        for name, stripped in _texts(rows, shared).items():
            settings = _settings(stripped - {""})
            if settings is not None:
                missing = "" in stripped
                lines.append({"name": name, **settings, **({"missing": True} if missing else {}), "note": NOTE})
        return lines


def _texts(rows: Rows, names: Sequence[str]) -> dict[str, set[str]]:
    """The different texts of these columns; null is the empty one."""
    found: dict[str, set[str]] = {name: set() for name in names}
    for piece in rows.pieces(names):
        for name in names:
            positions, texts = piece.texts(name)
            found[name].update(map(text_of, texts), [""] if (positions < 0).any() else [])
    return found


def _check_apart(sample: RowSketch, hidden: Rows, shared: Sequence[str]) -> None:
    """Refuse rows of the private table."""
    known = {column.name for column in hidden.columns}
    both = [name for name in shared if name in known]
    if both and same_rows(sample, RowSketch.of(hidden, both, hidden.take(both), KEY)):
        raise Refused("This sample holds rows of the private table, so it is not public; use rows of other people.")


def _settings(texts: set[str]) -> dict[str, Any] | None:
    """What holds every one of these texts; None where there are none or too many."""
    if not texts:
        return None
    if not any(text.isdigit() for text in texts) and not Booleans(name="any").encode(sorted(texts))[1].any():
        return {"kind": "booleans"}
    numbers = [number(text) for text in texts if not CODE.fullmatch(text)]
    known = [value for value in numbers if value is not None and math.isfinite(value)]
    if len(known) == len(texts):
        return _range(min(known), max(known), all(map(integral, known)))
    found = [day for text in texts if (day := days(text)) is not None]
    if len(found) == len(texts):
        low, high = int(min(found)), int(max(found))
        bounds = {"low": date.fromordinal(low + EPOCH).isoformat(), "high": date.fromordinal(high + EPOCH).isoformat()}
        return {"kind": "dates", **bounds, **({"bins": 100} if high - low >= FINE else {})}
    if len(texts) > MOST_CATEGORIES:
        return None
    return {"kind": "categories", "values": sorted(texts), "other": other_than(texts)}


def _range(low: float, high: float, whole: bool) -> dict[str, Any]:
    if whole and max(abs(low), abs(high)) < MAX_CELLS**2:
        return {
            "kind": "integers", "low": int(low), "high": int(high), **({"bins": 100} if high - low >= FINE else {})
        }  # fmt: skip
    return {"kind": "reals", "low": low, "high": high if high > low else low + max(1.0, abs(low)), "bins": 100}
