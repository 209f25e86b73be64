"""What the engine takes on trust from a query class, as checks that any class can be put through.

The kernel takes a class's word that one row moves each of its totals by at most the denominator; releases state the
error that its `worst` reports; theorems are given its dimension; people see its members beside its totals.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from core import registry
from core.schema.domain import Domain
from core.table.counts import Cells
from tests.core.queries.cases import (
    LINEAR,
    NONLINEAR,
    different_points,
    fat_shattered,
    matrix,
    members,
    random_cells,
    shattered,
)
from tests.privacy.kit import cases

MOST_POINTS = 16
"""Points of a domain on which the dimension is searched for exactly."""
MOST_TABLES = 3_000
"""All tables of three rows and fewer are tried where there are no more than these."""


def examples(*, linear: bool) -> list[tuple[Any, Domain]]:
    """Everything that is known of every class."""
    told = [(query, cases.DOMAIN) for queries in cases.EXAMPLES.values() for query in queries]
    own = [case for case in told if is_linear(case[0]) == linear]
    return own + (LINEAR if linear else NONLINEAR)


def is_linear(query: Any) -> bool:
    return not isinstance(query, registry.query_classes["lipschitz"])


def one_row(query: Any, domain: Domain) -> np.ndarray:
    """Totals of the tables of one row: a line for each member, a column for each possible row."""
    lines = []
    for cell in range(domain.cells()):
        lines.append(query.totals(table(domain, [cell])))
    return np.stack(lines, axis=1)


def table(domain: Domain, rows: list[int]) -> Cells:
    return Cells(domain, np.bincount(rows, minlength=domain.cells()).reshape(domain.shape()))


def small_tables(domain: Domain) -> Iterator[list[int]]:
    """All tables of up to three rows, or as many rows as leave few enough tables."""
    cells = domain.cells()
    for rows in range(4):
        if math.comb(cells + rows - 1, rows) <= MOST_TABLES:
            yield from map(list, combinations_with_replacement(range(cells), rows))


def check_linear(query: Any, domain: Domain) -> None:
    """Totals are sums over the rows, so that what one row does in one table it does in every table."""
    lines = one_row(query, domain)
    for rows in small_tables(domain):
        assert np.array_equal(query.totals(table(domain, rows)), lines[:, rows].sum(axis=1)), (
            "totals must be sums over rows"
        )
    for seed in range(3):
        counts = random_cells(domain, seed, 400)
        totals = query.totals(counts)
        assert totals.dtype == np.int64
        assert np.array_equal(totals, lines @ counts.cells.ravel()), "totals must be sums over rows"


def check_change(query: Any, domain: Domain) -> None:
    """A row moves every total by at most the denominator: for sums, if the totals of one row are from 0 to it."""
    whole, lines = query.denominator(domain), one_row(query, domain)
    assert whole >= 1 and whole & (whole - 1) == 0, "the denominator is a power of two"
    assert lines.min() >= 0 and lines.max() <= whole, "a row must count for 0 to the denominator"


def check_every_change(query: Any, domain: Domain) -> None:
    """The same for statistics that are no sums: a row added, removed or replaced, in all small tables."""
    asked = domain.project(query.columns)
    whole, seen = query.denominator(asked), {}
    for rows in small_tables(asked):
        seen[tuple(rows)] = query.totals(table(asked, rows))
    for rows, totals in seen.items():
        for place in range(len(rows)):
            fewer = rows[:place] + rows[place + 1 :]
            assert np.abs(totals - seen[fewer]).max() <= whole, "a row must move a total by at most the denominator"
            for cell in range(asked.cells()):
                changed = seen[tuple(sorted((*fewer, cell)))]
                assert np.abs(totals - changed).max() <= whole, "a row must move a total by at most the denominator"


def check_members(query: Any, domain: Domain) -> None:
    """The question at each place is the one whose total stands there."""
    lines, whole = one_row(query, domain), query.denominator(domain)
    asked = members(query, domain)
    assert all(member.denominator == whole for member in asked), "a member must have the class's denominator"
    assert np.array_equal(matrix(query, domain), lines), "members must agree with totals"


def check_worst(query: Any, domain: Domain) -> None:
    """The largest difference is what comparing all answers finds."""
    tables = [random_cells(domain, seed, most) for seed, most in ((0, 6), (1, 9), (2, 2), (3, 6))]
    tables += [table(domain, [0]), table(domain, [domain.cells() - 1] * 3)]
    for truth in tables:
        for estimate in tables:
            brute = np.abs(query.answers(truth) - query.answers(estimate)).max()
            assert math.isclose(query.worst(truth, estimate), brute, abs_tol=1e-12), "worst must find the largest error"
        assert query.worst(truth, truth) == 0


def check_dimension(query: Any, domain: Domain) -> None:
    """Bounds on the dimension hold what an exact search finds; at a scale, for weights that are no predicates."""
    lines, whole = one_row(query, domain), query.denominator(domain)
    points = different_points(lines)
    if points.shape[1] > MOST_POINTS:
        return
    if whole == 1:
        claimed = query.vc(domain)
        assert claimed.low <= shattered(lines) <= claimed.high, "the dimension must be within its bounds"
    else:
        for gamma in (0.1, 0.25, 0.5):
            claimed = query.fat(domain, gamma)
            assert claimed.low <= fat_shattered(points / whole, gamma) <= claimed.high, (
                "the dimension must be within its bounds"
            )
