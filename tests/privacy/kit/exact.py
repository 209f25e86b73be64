"""The exact privacy loss of everything a mechanism can say on two neighbouring tables."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, combinations_with_replacement

import numpy as np

from tests.privacy.kit.offsets import Comparison, log_chance
from tests.privacy.kit.sessions import Step, Way

Pair = tuple[tuple[int, ...], tuple[int, ...]]


def micro_tables(cells: int, most: int) -> list[tuple[int, ...]]:
    """All tables of up to so many rows."""
    rows = (chosen for size in range(most + 1) for chosen in combinations_with_replacement(range(cells), size))
    return [tuple(np.bincount(chosen, minlength=cells).tolist()) for chosen in rows]


def added(cells: int, most: int) -> list[Pair]:
    """All tables of up to so many rows, each with every table that has one row more."""
    return [(table, _with(table, cell)) for table in micro_tables(cells, most) for cell in range(cells)]


def replaced(cells: int, rows: int) -> list[Pair]:
    """All tables of so many rows, each with every table that has another row in place of one."""
    common = (table for table in micro_tables(cells, rows - 1) if sum(table) == rows - 1)
    return [(_with(table, one), _with(table, two)) for table in common for one, two in combinations(range(cells), 2)]


def _with(table: tuple[int, ...], cell: int) -> tuple[int, ...]:
    return tuple(count + (place == cell) for place, count in enumerate(table))


def loss(one: Way, two: Way) -> float:
    """The largest log-ratio of the probabilities of a way over all numbers that are released on it.

    A released table moves the log-ratio by at most epsilon/sensitivity times its L1 change (the largest change of one
    number where their noise is drawn together), and for some released numbers in either direction by exactly that; the
    outcomes of comparisons move it by what they move it.
    """
    assert [step.public for step in one.steps] == [step.public for step in two.steps], "the steps depend on the table"
    assert one.replies == two.replies, "the replies depend on more than what was released"
    released = sum(
        float(before.epsilon)
        / before.sensitivity
        * (max if before.together else sum)(abs(a - b) for a, b in zip(before.hidden, after.hidden, strict=True))
        for before, after in zip(one.steps, two.steps, strict=True)
        if before.use == "release"
    )
    return released + abs(_log_outcomes(one.steps) - _log_outcomes(two.steps))


def _log_outcomes(steps: Sequence[Step]) -> float:
    """Log-probability of all outcomes of comparisons, run by run."""
    runs: list[tuple[float, list[Comparison]]] = []
    for step in steps:
        scale = step.sensitivity / float(step.epsilon)
        if step.use == "offset":
            runs.append((scale, []))
        elif step.use == "comparison":
            runs[-1][1].append(Comparison(step.threshold - step.hidden[0], scale, step.above))
    return sum(log_chance(scale, comparisons) for scale, comparisons in runs)
