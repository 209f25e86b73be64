"""Every kind of question on all small tables: no unit moves an answer by more than the kind says; some reach it."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import pytest

from core.base.errors import BadParameter
from core.kernel import asked, compared
from core.privacy.unit import Unit
from tests.core.kernel.kinds import KINDS, counts_of, every_kind

UNITS = (Unit.row(), Unit.row("replace"), Unit.id("who", 2), Unit.id("who", 2, "replace"))
ROWS = [1, pytest.param(3, marks=pytest.mark.exhaustive)]
"""Rows that both neighbours have, at most."""
NOT_TIGHT = {compared.Loss}
"""Its bound has one step of rounding that no small table needs."""


def tables(most: int) -> list[tuple[int, ...]]:
    chosen = (rows for size in range(most + 1) for rows in combinations_with_replacement(range(4), size))
    return [tuple(np.bincount(rows, minlength=4).tolist()) for rows in chosen]


def neighbours(unit: Unit, rows: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All tables of up to so many common rows, with every unit in its place, and with another one or none."""
    persons = [table for table in tables(unit.limit) if sum(table)]
    others = persons if unit.neighbours == "replace" else [(0,) * 4]
    if unit.public_rows:
        persons = others = [table for table in persons if sum(table) == 1]
    added = np.array(tables(rows))
    pairs = [(tuple(base + one), tuple(base + two)) for base in added for one in persons for two in others]
    return [(tuple(map(int, one)), tuple(map(int, two))) for one, two in pairs]


def moved(kind: asked.Sealed, unit: Unit, one: np.ndarray, two: np.ndarray) -> list[tuple[int, int]]:
    """How far the answers are apart, beside what the kind says at most."""
    apart = two - one
    if isinstance(kind, asked.Asked):
        most, parts = kind.change(unit), np.abs(apart).reshape(kind.parts, -1)
        # Below 2^26 a thousand squares fit into 64 bits; larger ones are counted as Python does.
        exact = parts if parts.max(initial=0) < 2**26 and parts.size < 10**3 else parts.astype(object)
        first = [(int(far), most.l1) for far in exact.sum(axis=1)]
        each = [(int(parts.max()), kind.furthest(unit))] if isinstance(kind, asked.AskedTogether) else []
        return first + each + [(int(far), most.l2_squared) for far in (exact**2).sum(axis=1)]
    if isinstance(kind, asked.AskedEnds):
        return [(int(np.ptp(apart)), kind.sensitivity(unit))]
    return [(int(np.abs(apart).max()), kind.sensitivity(unit))]


def read(kind: asked.Sealed, counts) -> np.ndarray:
    if isinstance(kind, asked.Asked):
        return kind.counts(counts)
    if isinstance(kind, asked.AskedScores):
        return kind.scores(counts)
    return kind.ends(counts) if isinstance(kind, asked.AskedEnds) else np.array([kind.value(counts)])


def reached(kind: asked.Sealed, unit: Unit, rows: int) -> float:
    """The largest part of its bound that any unit reaches; more than 1 is too much."""
    pairs = neighbours(unit, rows)
    answers = {table: read(kind, counts_of(kind, table, unit)) for table in {table for pair in pairs for table in pair}}
    found = [moved(kind, unit, answers[one], answers[two]) for one, two in pairs]
    return max(far / most for steps in found for far, most in steps)


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("kind", every_kind(), ids=lambda kind: kind.__name__)
def test_no_unit_moves_it_further_than_it_says(kind, rows):
    parts = [reached(each, unit, rows) for each in KINDS if type(each) is kind for unit in UNITS]
    assert max(parts) <= 1
    # A bound that is twice too large would cost accuracy; and the check above could not tell half of it.
    assert max(parts) == 1 or kind in NOT_TIGHT


def test_every_kind_is_checked():
    assert {type(kind) for kind in KINDS} == set(every_kind())


def test_whole_numbers_only():
    for kind in KINDS:
        assert read(kind, counts_of(kind, (2, 0, 1, 1), Unit.row())).dtype == np.int64


@pytest.mark.parametrize("number", [2**63 - 1, 1 - 2**63, -(2**63), 0])
def test_whole_numbers_of_64_bits_are_taken_as_they_are(number: int) -> None:
    taken = asked.own([number, 0], "weights")
    assert taken.tolist() == [number, 0]
    assert asked.largest_size(taken) == abs(number)


def test_sizes_of_nothing_and_of_many() -> None:
    assert asked.largest_size(asked.own(np.zeros((0, 3), dtype=np.int64), "weights")) == 0
    assert asked.largest_size(np.array([[3, -7], [5, 6]])) == asked.largest_size(np.array([7, -2])) == 7


@pytest.mark.parametrize("given", [np.array([1, 2**63], dtype=np.uint64), np.array([2**64 - 1]), np.array([0.5])])
def test_other_numbers_are_refused(given: np.ndarray) -> None:
    with pytest.raises(BadParameter, match="weights"):
        asked.own(given, "weights")
    assert asked.own(np.array([2**63 - 1], dtype=np.uint64), "weights").tolist() == [2**63 - 1]
