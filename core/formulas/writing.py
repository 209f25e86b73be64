"""Formulas as text: how names, values and numbers are written, and the text of a question that was clicked together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from core.formulas.tokens import bare, wrong
from core.schema.spellings import number, text_of


def column_text(name: str) -> str:
    """
    >>> column_text("age"), column_text("home town")
    ('age', '"home town"')
    """
    return name if bare(name, "word") else '"' + name.replace('"', '""') + '"'


def value_text(value: str) -> str:
    """
    >>> value_text("north"), value_text("it's"), value_text("3.5")
    ('north', "'it''s'", '3.5')
    """
    return value if bare(value, "word", "number", "date") else "'" + value.replace("'", "''") + "'"


def number_text(value: float) -> str:
    """The shortest text that is read as this very number.

    >>> number_text(40.0), number_text(-0.5)
    ('40', '-0.5')
    """
    return str(int(value)) if abs(value) < 1e15 and value == int(value) else repr(float(value))


def sum_text(terms: Sequence[tuple[str, float]]) -> str:
    """A weighted sum of columns.

    >>> sum_text([("age", 2), ("hours", -0.5)]), sum_text([("age", 1)])
    ('2*age - 0.5*hours', '1*age')
    """
    text = ""
    for column, weight in terms:
        sign = ("-" if weight < 0 else "") if not text else (" - " if weight < 0 else " + ")
        # a single column without a weight would be a plain comparison, which goes by bins and not by their middles
        factor = "" if abs(weight) == 1 and (len(terms) > 1 or weight < 0) else f"{number_text(abs(weight))}*"
        text += f"{sign}{factor}{column_text(column)}"
    return text


def cell_text(cells: Mapping[str, Any]) -> str:
    """The formula for one cell of a table: each column with the label of its value, None for a missing one.

    >>> cell_text({"region": "north", "age": "30 to 39"})
    "region = north and age = '30 to 39'"
    """
    if not cells:
        raise wrong("is empty; choose a value of at least one column.")
    return " and ".join(
        f"{column_text(name)} {'is missing' if value is None else f'= {value_text(text_of(value))}'}"
        for name, value in cells.items()
    )


def interval_text(column: str, low: Any, high: Any) -> str:
    """The formula for the values of one ordered column from `low` to `high`, numbers or dates.

    >>> interval_text("age", 30, 39)
    'age between 30 and 39'
    """
    return f"{column_text(column)} between {_bound(low)} and {_bound(high)}"


def halfspace_text(weights: Mapping[str, float], cut: float) -> str:
    """The formula for a weighted sum of columns that reaches a cut; columns with weight 0 are left out.

    >>> halfspace_text({"age": 2, "hours": -0.5, "height": 0}, 40)
    '2*age - 0.5*hours >= 40'
    """
    kept = [(column, float(weight)) for column, weight in weights.items() if weight]
    if not kept:
        raise wrong("needs at least one column with a weight other than 0.")
    if not all(map(math.isfinite, (*(weight for _, weight in kept), cut))):
        raise wrong("needs finite weights and a finite cut.")
    return f"{sum_text(kept)} >= {number_text(cut)}"


def _bound(value: Any) -> str:
    if isinstance(value, date):
        return value.isoformat()[:10]
    found = number(value)
    if isinstance(value, str) or found is None or not math.isfinite(found):
        return value_text(text_of(value))
    return number_text(found)
