"""A first schema to be edited, from column names and storage types only; the data is never looked at.

What a name promises is public: months are 1 to 12 in every table. Every guess says where it came from and asks to be
checked, because a name can mislead.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from core.schema.bins import propose_decimals

CHECK = "; check it"
BY_NAME = f"suggested by its name{CHECK}"
BY_TYPE = f"suggested by its type{CHECK}"

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_LINKS = frozenset(("per", "of", "in", "at", "since", "by"))
"""What follows one of these says nothing about the value: hours per week are hours."""
_OPAQUE = frozenset(
    ("name", "group", "band", "bracket", "class", "category", "code", "type", "label", "text", "comment", "id")
)
"""A name that ends so is no number, whatever comes before: an age group is a list of categories."""
_NUMBERS: tuple[tuple[tuple[str, ...], int, int], ...] = (
    (("age",), 0, 120),
    (("year", "yob"), 1900, 2100),
    (("quarter",), 1, 4),
    (("month",), 1, 12),
    (("week",), 1, 53),
    (("weekday", "dow"), 1, 7),
    (("day",), 1, 31),
    (("hour",), 0, 23),
    (("minute", "second"), 0, 59),
    (("percent", "percentage", "pct", "score"), 0, 100),
    (("rating", "stars"), 0, 10),
    (("children", "siblings"), 0, 20),
    (("height",), 0, 250),
    (("weight",), 0, 300),
    (("income", "salary", "wage"), 0, 200_000),
    (("latitude", "lat"), -90, 90),
    (("longitude", "lon", "lng"), -180, 180),
)
_RANGES = {word: (low, high) for words, low, high in _NUMBERS for word in words}
_REAL = frozenset(
    (
        "percent", "percentage", "pct", "latitude", "lat", "longitude", "lon", "lng", "height", "weight", "income",
        "salary", "wage",
    )
)  # fmt: skip
"""Where the type does not say whether numbers are whole, these are real: whole ones fit too, and not the other way."""
_YES_NO = frozenset(("smoker", "smokes", "diabetic", "pregnant", "retired", "insured", "deceased"))
_DATES = {"kind": "dates", "low": "1900-01-01", "high": "2100-12-31", "bins": 201}
_SEXES: dict[bool, dict[str, Any]] = {
    # The codes of ISO/IEC 5218: not known, male, female, not applicable.
    True: {"kind": "categories", "values": [0, 1, 2, 9]},
    False: {"kind": "categories", "values": ["F", "M"], "other": "other"},
}
SEX_SPELLINGS: tuple[tuple[str | int, ...], ...] = (
    ("female", "male"), ("Female", "Male"), ("F", "M"), ("f", "m"), (1, 2), (0, 1, 2, 9),
)  # fmt: skip
"""How tables write it, from which the curator may choose: the file is not looked at to find out which."""
_FINE = 1_000
"""Ranges of more whole numbers start with 100 bins."""


def draft(columns: Iterable[tuple[str, str]]) -> list[dict[str, Any]]:
    """One line of settings per column.

    >>> draft([("age", "BIGINT")])
    [{'name': 'age', 'kind': 'integers', 'low': 0, 'high': 120, 'note': 'suggested by its name; check it'}]
    """
    lines = []
    for name, storage in columns:
        named = _by_name(name, storage.upper())
        settings, note = (_by_type(storage.upper()), BY_TYPE) if named is None else (named, BY_NAME)
        lines.append({"name": name, **settings, "note": note})
    return lines


def origin(note: str) -> str:
    """Where a setting comes from, as its readers are told: that a guess asks to be checked is for the curator.

    >>> origin("suggested by its name; check it"), origin("form A; check it")
    ('suggested by its name', 'form A; check it')
    """
    return note.removesuffix(CHECK) if note in (BY_NAME, BY_TYPE) else note


def like_id(name: str) -> bool:
    """Whether a column is named like an identifier.

    >>> like_id("patientId"), like_id("visit_id"), like_id("width")
    (True, True, False)
    """
    return bool({"id", "ids", "uuid", "guid", "ssn", "email", "phone"} & set(_words(name)))


def sex_like(name: str) -> bool:
    """Whether a column is named like somebody's sex, which tables write in a few ways.

    >>> sex_like("Sex"), sex_like("gender_at_birth"), sex_like("sextet")
    (True, True, False)
    """
    return bool({"sex", "gender"} & set(_words(name)))


def nameless(name: str) -> bool:
    """Whether a column has a number for a name, as an index has that was written without one.

    >>> nameless("Unnamed: 0"), nameless("column_1"), nameless("column of marble")
    (True, True, False)
    """
    return bool(re.fullmatch(r"(Unnamed: |column_)\d+_*", name))


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name)]


def _by_name(name: str, storage: str) -> dict[str, Any] | None:
    words = _words(name)
    if storage.startswith(("DATE", "TIME", "BOOL")):
        return None
    if words[:1] in (["is"], ["has"]):
        return {"kind": "booleans"}
    if len(words) > 1 and words[-1] in ("on", "at") and words[-2].endswith("ed") and not _numeric(storage):
        # Visited on, created at: the moment at which it happened.
        return dict(_DATES)
    links = [place for place, word in enumerate(words) if word in _LINKS and place]
    head = words[: links[0]] if links else words
    if not head or head[-1] in _OPAQUE:
        return None
    # The last word of an English name is what it is about: a year's income is an income.
    for word in reversed(head):
        if word in ("date", "birthday", "dob") and not _numeric(storage):
            return dict(_DATES)
        if word in ("sex", "gender"):
            return dict(_SEXES[_numeric(storage)])
        if word in _RANGES:
            return _range(*_RANGES[word], real=_float(storage) or (word in _REAL and "INT" not in storage))
    # Only where nothing before it is counted or dated: the age at which somebody retired is an age.
    return {"kind": "booleans"} if not links and head[-1] in _YES_NO else None


def _by_type(storage: str) -> dict[str, Any]:
    if storage.startswith(("DATE", "TIMESTAMP")):
        return dict(_DATES)
    if storage.startswith("BOOL"):
        return {"kind": "booleans"}
    if _numeric(storage):
        return _range(0, 100, real=_float(storage))
    return {"kind": "categories", "values": [], "other": "other"}


def _range(low: int, high: int, *, real: bool) -> dict[str, Any]:
    width = high - low
    if real:
        bins = width if width <= _FINE else 100
        decimals = propose_decimals(low, high, bins)
        return {"kind": "reals", "low": float(low), "high": float(high), "bins": bins, "decimals": decimals}
    return {"kind": "integers", "low": low, "high": high, **({} if width <= _FINE else {"bins": 100})}


def _float(storage: str) -> bool:
    return storage.startswith(("DOUBLE", "FLOAT", "REAL", "DECIMAL"))


def _numeric(storage: str) -> bool:
    return _float(storage) or "INT" in storage
