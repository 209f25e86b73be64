"""Code books in JSON that other tools write, as entries of our own.

Read are the sizes of columns (`{"age": 85, "sex": 2}`, as the tools for marginals keep them), Table Schema and Data
Package of Frictionless (version 1 and 2), and CSV on the Web (the metadata of one table). Of each only names, types,
bounds, lists of values and remarks are taken; what they say beyond that has no place in a schema.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from core.base.errors import BadSchema

KINDS = {
    "integer": "integers", "year": "integers", "int": "integers", "long": "integers", "short": "integers",
    "byte": "integers", "nonNegativeInteger": "integers", "positiveInteger": "integers", "gYear": "integers",
    "number": "reals", "decimal": "reals", "double": "reals", "float": "reals",
    "boolean": "booleans", "date": "dates", "datetime": "dates", "dateTime": "dates", "string": "categories",
}  # fmt: skip
"""Types of both standards; any other says nothing about the column."""
LOW = ("minimum", "minInclusive")
HIGH = ("maximum", "maxInclusive")

_PLAIN = re.compile(r"[^\\.\[\]{}()*+?^$|]+")
"""Text in which a pattern has no sign of its own."""


def entries_of(data: Mapping[str, Any]) -> list[Any] | None:
    """One entry per column, or None where the text is of no known form."""
    if data and all(type(size) is int for size in data.values()):
        return [_size(name, size) for name, size in data.items()]
    if isinstance(resources := data.get("resources"), list):
        return _package(resources)
    if isinstance(fields := data.get("fields"), list):
        return [_column(field, "constraints") for field in fields]
    if isinstance(table := data.get("tableSchema"), dict) and isinstance(columns := table.get("columns"), list):
        return [_column(_titled(column), "datatype") for column in columns]
    return None


def _size(name: str, size: int) -> dict[str, Any]:
    """A column of so many codes, counted from 0."""
    if size < 1:
        raise BadSchema(f"Code book, column '{name}': its size must be 1 or more.")
    return {"name": name, "kind": "integers", "low": 0, "high": size - 1}


def _package(resources: list[Any]) -> list[Any]:
    found = [
        entries_of(resource["schema"]) for resource in resources if isinstance(resource, dict) and _described(resource)
    ]
    if len(found) != 1 or found[0] is None:
        raise BadSchema("The data package must describe the columns of exactly one table; keep that one.")
    return found[0]


def _described(resource: Mapping[str, Any]) -> bool:
    return isinstance(resource.get("schema"), dict)


def _titled(column: Any) -> Any:
    """A column of CSV on the Web by its title, which is what the file's first line says."""
    if not isinstance(column, dict):
        return column
    title = column.get("titles", column.get("name"))
    if isinstance(title, dict):
        # By language; a file has one first line, and nothing says in which of them it is.
        title = next(iter(title.values()), None)
    return {**column, "name": title[0] if isinstance(title, list) and title else title}


def _column(field: Any, limits: str) -> Any:
    """One column; `limits` says where its bounds stand."""
    if not isinstance(field, dict):
        return field
    bounds = field.get(limits)
    inner: Mapping[str, Any] = bounds if isinstance(bounds, dict) else {}
    kind = KINDS.get(str(field.get("type", inner.get("base", bounds if isinstance(bounds, str) else ""))))
    entry: dict[str, Any] = {"name": field.get("name")}
    low, high = _first(inner, LOW), _first(inner, HIGH)
    if values := inner.get("enum", field.get("categories")) or _alternatives(inner, kind):
        entry |= {
            "kind": "categories",
            "values": [_value(value) for value in values] if isinstance(values, list) else values,
        }
    elif kind == "booleans" or (kind in ("integers", "reals", "dates") and low is not None and high is not None):
        # Without bounds the kind alone would not be a column yet: the suggestion by name stays.
        entry |= {"kind": kind} | ({} if kind == "booleans" else {"low": low, "high": high})
    if field.get("required", inner.get("required")) is False:
        entry["missing"] = True
    if isinstance(note := field.get("description", field.get("title")), str) and note.strip():
        entry["note"] = note
    return entry


def _alternatives(datatype: Mapping[str, Any], kind: str | None) -> list[str]:
    """The texts between which the pattern of a string chooses: CSV on the Web has no other list of values.

    >>> [_alternatives({"format": pattern}, "categories") for pattern in ("^(North|South|North)$", "[A-Z]+|x")]
    [['North', 'South'], []]
    """
    pattern = datatype.get("format")
    if kind != "categories" or not isinstance(pattern, str):
        return []
    inside = re.sub(r"^\^?\((?:\?:)?([^()]*)\)\$?$", r"\1", pattern).removeprefix("^").removesuffix("$")
    choices = list(dict.fromkeys(inside.split("|")))
    return choices if len(choices) > 1 and all(_PLAIN.fullmatch(choice) for choice in choices) else []


def _value(value: Any) -> Any:
    """A category, which Frictionless may write with a label beside it."""
    return value.get("value") if isinstance(value, dict) else value


def _first(given: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((given[name] for name in names if name in given), None)
