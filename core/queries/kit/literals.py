"""Columns read as yes or no: two-cell columns, or 'column = value' for any other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.base import limits
from core.base.arrays import Columns
from core.base.errors import BadParameter, printable
from core.queries.kit import checks
from core.schema.attributes import Booleans
from core.schema.domain import Domain

Literal = tuple[str, int]
"""A column and the code that counts as yes."""


def normalised(values: Any) -> tuple[Literal, ...]:
    """Literals from JSON, each column once."""
    pairs = checks.rows_of_tuples(values, "values", "pairs of a column name and a code")
    for pair in pairs:
        if len(pair) != 2 or not isinstance(pair[0], str):
            raise BadParameter("values", "must be a list of pairs of a column name and a code.")
        limits.whole(pair[1], "values", 0)
    limits.names([pair[0] for pair in pairs], "values")
    return pairs


def resolve(domain: Domain, columns: Columns, values: tuple[Literal, ...]) -> tuple[Literal, ...]:
    """The literals in the order of the schema; with none named, all columns of two cells and all booleans."""
    if not columns and not values:
        columns = tuple(attribute.name for attribute in domain if _yes_or_no(domain, attribute.name))
        if not columns:
            raise BadParameter("columns", "the schema has no yes/no column; name values of other columns instead.")
    checks.known(domain, columns)
    checks.known(domain, (column for column, _ in values), "values")
    for column in columns:
        if not _yes_or_no(domain, column):
            cells = f"'{printable(column)}' has {domain[column].size:,} cells, not two"
            raise BadParameter("columns", f"{cells}; name one of its values instead.")
    for column, code in values:
        size = domain[column].size
        if size < 2:
            raise BadParameter("values", f"column '{printable(column)}' has a single cell, which says nothing.")
        if code >= size:
            raise BadParameter("values", f"column '{printable(column)}' has the codes 0 to {size - 1:,} only.")
        if column in columns:
            raise BadParameter("values", f"column '{printable(column)}' is also named in columns; name it once.")
    codes = dict.fromkeys(columns, 1) | dict(values)
    return tuple((name, codes[name]) for name in domain.names if name in codes)


def words(domain: Domain, literal: Literal) -> str:
    return f"{printable(literal[0])} = {domain[literal[0]].label(literal[1])}"


def split(table: NDArray[Any], axis: int, code: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """The table summed along an axis, and its slice at one code."""
    return table.sum(axis=axis), table.take(code, axis=axis)


def halved(table: NDArray[Any], codes: tuple[int, ...]) -> NDArray[Any]:
    """The table with every axis reduced to (no, yes): shape (2, 2, ..)."""
    if codes == (1,) * table.ndim and table.shape == (2,) * table.ndim:
        return table
    for axis, code in enumerate(codes):
        whole, yes = split(table, axis, code)
        table = np.stack([whole - yes, yes], axis=axis)
    return table


def _yes_or_no(domain: Domain, column: str) -> bool:
    attribute = domain[column]
    return attribute.size == 2 or isinstance(attribute, Booleans)
