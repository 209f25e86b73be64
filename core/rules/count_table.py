"""A publicly known table of counts, such as a census table of region by sex, as rules: one for each of its lines."""

from __future__ import annotations

import csv
import io

from core.base.errors import BadSchema, printable
from core.formulas.writing import cell_text
from core.rules.grammar import MOST_COUNTED
from core.schema.domain import MAX_RULES, Domain

COUNT = ("count", "number", "n", "rows", "people", "persons")
"""What the column of counts may be called; else it is the last one."""


def count_rules(text: str, domain: Domain) -> tuple[str, ...]:
    """Rules from a table whose first line names columns of the schema and a column of counts.

    A cell says a value or the label of a bin; an empty one says that the value is missing.

    >>> from core.schema.domain import Booleans, Categories
    >>> people = Domain((Categories(name="region", values=("north", "far east")), Booleans(name="ill")))
    >>> count_rules("region,count\\nnorth,1200\\nfar east,7", people)
    ('count(region = north) = 1200', "count(region = 'far east') = 7")
    """
    first = text.strip().splitlines()[0] if text.strip() else ""
    separator = max(",\t;|", key=first.count)
    try:
        lines = list(csv.reader(io.StringIO(text.strip(), newline=""), delimiter=separator, skipinitialspace=True))
    except csv.Error:
        raise BadSchema("The table of counts cannot be read; use one line per count, with commas between.") from None
    if len(lines) < 2:
        raise BadSchema("The table of counts needs a first line with the names of its columns, and a line per count.")
    header = [cell.strip() for cell in lines[0]]
    called = (at for at, name in enumerate(header) if name.lower() in COUNT and name not in domain)
    place = next(called, len(header) - 1)
    columns = [name for at, name in enumerate(header) if at != place]
    if not columns:
        raise BadSchema("The table of counts names no column of the schema.")
    for name in columns:
        if name not in domain:
            raise BadSchema(f"The table of counts cannot be used: '{printable(name)}' is no column of the schema.")
    if len(lines) - 1 > MAX_RULES:
        raise BadSchema(f"The table of counts has {len(lines) - 1:,} lines; use at most {MAX_RULES:,}.")
    return tuple(_rule(number, line, columns, place) for number, line in enumerate(lines[1:], start=2) if line)


def _rule(number: int, line: list[str], columns: list[str], place: int) -> str:
    cells = [cell.strip() for cell in line]
    if len(cells) != len(columns) + 1:
        raise BadSchema(f"Line {number} of the table of counts has {len(cells)} cells and needs {len(columns) + 1}.")
    written = cells.pop(place).replace(" ", "").replace("'", "")
    if not written.isdecimal() or int(written) > MOST_COUNTED:
        raise BadSchema(f"Line {number} of the table of counts has no whole number as its count.")
    values = {name: cell or None for name, cell in zip(columns, cells, strict=True)}
    return f"count({cell_text(values)}) = {int(written)}"
