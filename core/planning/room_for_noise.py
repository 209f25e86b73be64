"""Whether a table has enough rows for what is asked of it: the noise against the rows of a table of counts."""

from __future__ import annotations

from collections.abc import Sequence

from core.queries.kit.focus import asked_tables
from core.queries.kit.protocol import QueryClass
from core.schema.domain import Domain

MOST_MOVED = 0.06
"""Rows that may stand in a wrong cell. Exact columns without any association between them have 5.9, 6.3, 8.0 and 8.5
of 100 rows wrong in the pairs of the four demo tables: with more than that, associations are not told from noise."""

MOST_OFF = 0.02
"""Part of the rows by which an answer of a session may be off: a group of every tenth row is then known to a fifth."""


COUNTED = "marginals"
"""The class whose questions are the counts of tables."""


def moved_share(queries: Sequence[QueryClass], domain: Domain, error: float, rows: float) -> float | None:
    """The share of the rows that an error of so many rows for each count puts into a wrong cell of a table.

    Half of the sum of the errors of all cells of an average table, over the rows: the total variation that is to be
    expected. None where something else than tables of counts is asked.
    """
    if rows <= 0 or not queries or any(query.name != COUNTED for query in queries):
        return None
    cells = [domain.cells(columns) for query in queries for columns in asked_tables(query, domain)]
    return error * sum(cells) / len(cells) / 2 / rows if cells else None


def moved_in_tables(
    queries: Sequence[QueryClass], domain: Domain, error: float, counts: float | None, rows: float
) -> float | None:
    """The same of the tables alone, where other questions are asked beside them and `error` is the mean of all.

    `counts` is the mean error of a count of those tables; None where it is not known, and so is then the share.
    """
    tables = [query for query in queries if query.name == COUNTED]
    if len(tables) == len(queries):
        return moved_share(queries, domain, error, rows)
    return None if counts is None else moved_share(tables, domain, counts, rows)


def too_small(moved: float | None) -> str | None:
    """One sentence where a table is too small for what is asked; None where it is not."""
    if moved is None or moved <= MOST_MOVED:
        return None
    many = "more than half of all rows" if moved > 0.5 else f"about {100 * moved:.0f} of 100 rows"
    return (
        f"The table is small for what is asked. Noise is expected to put {many} into a wrong cell of an average table "
        "of counts, so most associations between columns, correlations included, cannot be told from it. Fewer "
        "columns, fewer bins or more budget help."
    )


def too_few_for_answers(error: float, rows: float) -> str | None:
    """One sentence where an answer of a session is expected to be off by much of the table; None where it is not.

    >>> too_few_for_answers(3, 10_000)
    >>> too_few_for_answers(109, 1_306)[:84]
    'The table is small for this session. An answer is expected to be off by about 8 % of'
    """
    if rows <= 0 or error <= MOST_OFF * rows:
        return None
    off = "more than half of its rows" if error > 0.5 * rows else f"about {100 * error / rows:.0f} % of its rows"
    return (
        f"The table is small for this session. An answer is expected to be off by {off}, on average, so only large "
        "groups can be told from noise. Fewer columns or more budget help."
    )
