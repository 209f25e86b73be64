"""Code books: what a form, a law or a documentation says about columns, as CSV or JSON, read into lines of a schema.

One line per column of the table: name, kind, low, high, bins, decimals, storage, values, other, missing, note. Only the
name is needed; a line with nothing but a note keeps the column as it is. Spellings are taken as they come ('min' is
'low', an 'int' is of the kind 'integers'), and so are the JSON forms of some other tools (`foreign_codebooks.py`);
anything doubtful is refused in a sentence that names line and column. XML is read as a DDI Codebook (`ddi.py`).
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from core.base.errors import BadSchema, printable
from core.schema.codebook_line import line_of, problem
from core.schema.ddi import entries_of_xml
from core.schema.domain import MAX_COLUMNS
from core.schema.foreign_codebooks import entries_of

LARGEST = 16_000_000
"""Characters of a code book."""
SPELLINGS: dict[str, tuple[str, ...]] = {
    "name": ("name", "column", "variable", "field"),
    "kind": ("kind", "type"),
    "low": ("low", "min", "minimum", "from"),
    "high": ("high", "max", "maximum", "to"),
    "bins": ("bins",),
    "decimals": ("decimals",),
    "storage": ("storage",),
    "values": ("values", "categories", "codes", "levels"),
    "other": ("other",),
    "missing": ("missing", "nullable"),
    "note": ("note", "source", "description", "label", "comment"),
}
_SETTING_OF = {word: setting for setting, words in SPELLINGS.items() for word in words}


def read(text: str) -> list[dict[str, Any]]:
    """The lines of a code book, each with its column's name and the settings it gives.

    >>> read("variable,min,max\\nage,0,120")
    [{'name': 'age', 'kind': 'integers', 'low': 0, 'high': 120}]
    """
    if len(text) > LARGEST:
        raise BadSchema(f"The code book has {len(text):,} characters; use at most {LARGEST:,}.")
    text = text.removeprefix("\ufeff").strip("\r\n")
    if not text.strip():
        raise BadSchema("The code book is empty; its first line must name its columns, 'name' among them.")
    start = text.lstrip()[0]
    raw = _listed(entries_of_xml(text)) if start == "<" else _from_json(text) if start in "[{" else _from_csv(text)
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    for place, given in raw:
        line = line_of(place, given)
        if (name := line["name"]) in found:
            raise problem(place, "name", f"'{printable(name)}' was described before, in {found[name][0]}; keep one.")
        found[name] = place, line
    if not found:
        raise BadSchema("The code book describes no column; add one line per column.")
    if len(found) > MAX_COLUMNS:
        raise BadSchema(f"The code book describes {len(found):,} columns; use at most {MAX_COLUMNS:,}.")
    return [line for _, line in found.values()]


def read_rules(text: str) -> tuple[str, ...]:
    """The rules that a code book in JSON lists beside its columns; none where it says nothing of them.

    >>> read_rules('{"columns": [{"name": "age"}], "rules": ["never: age < 3"]}')
    ('never: age < 3',)
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return ()
    found = data.get("rules", ()) if isinstance(data, dict) and "columns" in data else ()
    if not isinstance(found, list | tuple) or not all(isinstance(rule, str) for rule in found):
        raise BadSchema("The rules of the code book must be a list of texts.")
    return tuple(found)


def foreign(text: str) -> bool:
    """Whether this is a code book of another tool in JSON.

    >>> foreign('{"age": 85, "sex": 2}'), foreign('{"columns": []}')
    (True, False)
    """
    try:
        data = json.loads(text)
        return isinstance(data, dict) and "columns" not in data and entries_of(data) is not None
    except (ValueError, RecursionError, BadSchema):
        return False


def _from_csv(text: str) -> list[tuple[str, dict[str, Any]]]:
    first = re.sub(r'"[^"]*"', "", text.splitlines()[0])
    separator = max(",\t;|", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True, skipinitialspace=True)
    lines = []
    start = 1
    try:
        settings = _header(next(reader))
        start = reader.line_num + 1
        for cells in reader:
            place, start = f"line {start}", reader.line_num + 1
            if len(cells) > len(settings) and any(cell.strip() for cell in cells[len(settings) :]):
                raise BadSchema(
                    f"Code book, {place}: it has {len(cells)} fields and the first line names {len(settings)} columns; "
                    "put quotes around a text that contains the separator."
                )
            if any(cell.strip() for cell in cells):
                pairs = zip(settings, cells, strict=False)
                lines.append((place, {setting: cell.strip() for setting, cell in pairs if cell.strip()}))
    except csv.Error:
        raise BadSchema(
            f"Code book, line {start}: it cannot be read; quotes must come in pairs, and a cell be short."
        ) from None
    return lines


def _header(cells: list[str]) -> list[str]:
    settings = []
    for cell in cells:
        setting = _SETTING_OF.get(cell.strip().lower())
        if setting is None:
            raise problem("line 1", cell.strip(), f"is unknown; name your columns {', '.join(SPELLINGS)}.")
        if setting in settings:
            raise problem("line 1", cell.strip(), f"there are two columns for '{setting}'; keep one.")
        settings.append(setting)
    if "name" not in settings:
        raise problem("line 1", "name", "is missing; one column must hold the names of the table's columns.")
    return settings


def _from_json(text: str) -> list[tuple[str, dict[str, Any]]]:
    try:
        data = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        raise BadSchema(
            "The code book is not valid JSON, nor a CSV text with column names in its first line."
        ) from None
    if isinstance(data, dict):
        own = {"columns"} <= set(data) <= {"columns", "rules"}
        listed = data.get("columns") if own else entries_of(data)
        if listed is None and all(isinstance(entry, dict) and "name" not in entry for entry in data.values()):
            listed = [{"name": name, **entry} for name, entry in data.items()]
        data = listed
    if not isinstance(data, list):
        raise BadSchema("The code book must be a JSON list with one object per column, or one list called 'columns'.")
    return _listed(data)


def _listed(entries: Sequence[Any]) -> list[tuple[str, dict[str, Any]]]:
    lines = []
    for number, entry in enumerate(entries, start=1):
        place = f"entry {number}"
        if not isinstance(entry, dict):
            raise BadSchema(f"Code book, {place}: it must be an object with a name.")
        given = dict(zip(_header_of(place, entry), entry.values(), strict=True))
        lines.append((place, {setting: value for setting, value in given.items() if value is not None}))
    return lines


def _header_of(place: str, entry: Mapping[str, Any]) -> list[str]:
    try:
        return _header([*entry])
    except BadSchema as told:
        raise BadSchema(str(told).replace("line 1", place)) from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        name = found.get("name")
        raise BadSchema(f"Code book, '{printable(name)}': it gives a setting twice; keep one of them.")
    return found
