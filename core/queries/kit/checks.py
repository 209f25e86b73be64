"""Checks that every query class makes, so that each refusal reads alike and names what would work."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from core.base.errors import BadParameter, Refused, printable
from core.base.wording import amount
from core.schema.attributes import Attribute
from core.schema.domain import Domain

MOST_LISTED = 2**20
"""Answers listed one by one: 8 MB, and a second of work in the slowest class."""
MOST_CELLS = 2**24
"""Cells of one table of counts or of one question's weights: 128 MB."""


def rows_of_tuples(value: Any, parameter: str, what: str) -> tuple[tuple[Any, ...], ...]:
    """A list of lists, as JSON gives them, as tuples."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise BadParameter(parameter, f"must be a list of {what}.")
    rows = tuple(value)
    if any(isinstance(row, str) or not isinstance(row, Iterable) for row in rows):
        raise BadParameter(parameter, f"must be a list of {what}.")
    return tuple(tuple(row) for row in rows)


def known(domain: Domain, columns: Iterable[str], parameter: str = "columns") -> None:
    for column in columns:
        if column not in domain:
            raise BadParameter(parameter, f"'{printable(column)}' is not in the schema.")


def ordered(domain: Domain, columns: Iterable[str], parameter: str) -> None:
    """Columns whose neighbouring cells are neighbouring values."""
    _suited(domain, columns, parameter, lambda attribute: attribute.ordered, "has no order")


def numeric(domain: Domain, columns: Iterable[str], parameter: str) -> None:
    _suited(domain, columns, parameter, lambda attribute: attribute.numeric, "is not a column of numbers")


def _suited(
    domain: Domain, columns: Iterable[str], parameter: str, suits: Callable[[Attribute], bool], problem: str
) -> None:
    columns = tuple(columns)
    known(domain, columns, parameter)
    for column in columns:
        if not suits(domain[column]):
            others = [printable(attribute.name) for attribute in domain if suits(attribute)][:10]
            advice = f"use one of: {', '.join(others)}" if others else "the schema has no such column"
            raise BadParameter(parameter, f"'{printable(column)}' {problem}; {advice}.")


def placed(index: int, size: int) -> int:
    """A place in the order of a class of `size` questions."""
    if not 0 <= index < size:
        raise BadParameter("index", f"the class has the places 0 to {amount(size - 1)}.")
    return int(index)


def listable(size: int, name: str) -> None:
    """Refuse to list a class answer by answer when there are too many."""
    if size > MOST_LISTED:
        raise Refused(
            f"The class '{name}' has {amount(size)} questions and at most {amount(MOST_LISTED)} are listed; "
            "use a smaller class, or ask for its worst error or a sample instead."
        )


def holdable(domain: Domain, columns: tuple[str, ...], name: str) -> None:
    """Refuse a table of counts that would not fit."""
    if (cells := domain.cells(columns)) > MOST_CELLS:
        raise Refused(
            f"The class '{name}' needs a table of {amount(cells)} cells and at most {amount(MOST_CELLS)} are held; "
            "choose fewer columns or coarser bins."
        )
