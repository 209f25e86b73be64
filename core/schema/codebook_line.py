"""One line of a code book as the settings of one column, checked as a column of a schema is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from core.base.errors import BadSchema, printable
from core.schema.domain import KINDS, MAX_CELLS
from core.schema.spellings import days
from core.schema.value_list import WHOLE, read_values

SETTINGS: dict[str, tuple[str, ...]] = {
    "categories": ("values", "other"),
    "integers": ("low", "high", "bins", "storage"),
    "reals": ("low", "high", "bins", "decimals", "storage"),
    "booleans": (),
    "dates": ("low", "high", "bins", "storage"),
}
"""What each kind of column can be told, beside its name, 'missing' and a note."""
KIND_SPELLINGS: dict[str, tuple[str, ...]] = {
    "categories": ("categories", "category", "categorical", "text", "string", "factor", "nominal"),
    "integers": ("integers", "integer", "int", "whole"),
    "reals": ("reals", "real", "float", "double", "decimal", "number", "numeric"),
    "booleans": ("booleans", "boolean", "bool", "logical"),
    "dates": ("dates", "date"),
}
YES, NO = ("yes", "y", "true", "t", "1", "x"), ("no", "n", "false", "f", "0", "")
USUAL_BINS = 100
"""Bins of a range of reals where the code book says none."""

_KIND_OF = {word: kind for kind, words in KIND_SPELLINGS.items() for word in words}


def problem(place: str, column: str, sentence: str) -> BadSchema:
    return BadSchema(f"Code book, {place}, column '{printable(column)}': {sentence}")


def line_of(place: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that a line gives; without any but a note, the column stays as it is."""
    name = given.get("name")
    if not isinstance(name, str) or not name.strip():
        raise problem(place, "name", "is empty; name the column that this line is about.")
    note = given.get("note", "")
    if not isinstance(note, str):
        raise problem(place, "note", "must be a text.")
    said = {setting: value for setting, value in given.items() if setting not in ("name", "note")}
    if not said:
        return {"name": name, **({"note": note} if note else {})}
    kind = _kind(place, said)
    line: dict[str, Any] = {"name": name, "kind": kind}
    for setting, value in said.items():
        if setting in ("kind", "missing"):
            continue
        if setting not in SETTINGS[kind]:
            raise problem(place, setting, f"means nothing for a column of {kind}; leave it empty.")
        line[setting] = _setting(place, setting, kind, value)
    if kind == "reals":
        line.setdefault("bins", USUAL_BINS)
    if _flag(place, said.get("missing", "")):
        line["missing"] = True
    if note:
        line["note"] = note
    try:
        KINDS[kind](**line)
    except BadSchema as told:
        raise BadSchema(f"Code book, {place}: {told}") from None
    return line


def _kind(place: str, said: Mapping[str, Any]) -> str:
    """The kind that is named, or else the one that the other settings imply."""
    if "kind" in said:
        kind = _KIND_OF.get(str(said["kind"]).strip().lower())
        if kind is None:
            raise problem(place, "kind", f"must be one of {', '.join(KINDS)}.")
        return kind
    if "values" in said or "other" in said:
        return "categories"
    bounds = [str(said[setting]) for setting in ("low", "high") if setting in said]
    if not bounds:
        raise problem(place, "kind", f"is empty; choose one of {', '.join(KINDS)}.")
    if all(days(bound) is not None for bound in bounds):
        return "dates"
    return "integers" if "decimals" not in said and all(WHOLE.fullmatch(bound) for bound in bounds) else "reals"


def _setting(place: str, setting: str, kind: str, value: Any) -> Any:
    if setting == "values":
        return _list(place, value)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise problem(place, setting, "must be one text or number.")
    if setting in ("other", "storage"):
        return str(value)
    if setting in ("bins", "decimals"):
        least, most = (1, MAX_CELLS) if setting == "bins" else (0, 15)
        if len(str(value)) > 9 or not WHOLE.fullmatch(str(value)) or not least <= int(value) <= most:
            raise problem(place, setting, f"must be a whole number from {least} to {most:,}.")
        return int(value)
    if kind == "dates":
        if not isinstance(value, str) or len(value) != 10 or days(value) is None:
            raise problem(place, setting, "must be a date such as 2024-12-31.")
        return value
    return _number(place, setting, value)


def _number(place: str, setting: str, value: str | int | float) -> int | float:
    for read_as in (int, float):
        try:
            found = read_as(str(value)) if str(value).isascii() and "_" not in str(value) else None
        except ValueError:
            continue
        if found is not None:
            return found
    raise problem(place, setting, "must be a number with a decimal point and without separators, such as 1234.5.")


def _list(place: str, value: Any) -> list[str | int]:
    if isinstance(value, list):
        if all(isinstance(item, str | int) and not isinstance(item, bool) for item in value):
            return list(value)
        raise problem(place, "values", "must be a list of texts or whole numbers.")
    if not isinstance(value, str):
        raise problem(place, "values", 'must be a list, written such as "north | south".')
    text = value if re.search(r'[|\n"]', value) else value.replace(";", "|")
    items = read_values(text)
    if any(isinstance(item, str) and "=" in item and f'"{item}"' not in text for item in items):
        raise problem(place, "values", "write the codes only, without '= label', or put quotes around the whole value.")
    return items


def _flag(place: str, value: Any) -> bool:
    word = str(value).strip().lower()
    if word in YES or word in NO:
        return word in YES
    raise problem(place, "missing", "must be yes or no.")
