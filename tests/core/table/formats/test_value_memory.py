from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

from core.table.formats import value_memory
from core.table.formats.value_memory import ValueMemory


class Spelling:
    """Writes values down, and which it was asked for."""

    def __init__(self) -> None:
        self.asked: list[object] = []

    def __call__(self, values: Sequence[object]) -> list[str]:
        self.asked += values
        return [f"{type(value).__name__} {value}" for value in values]


def test_a_value_is_worked_out_once_and_told_in_the_order_it_is_asked() -> None:
    spelling = Spelling()
    memory = ValueMemory(spelling)
    assert memory.of(["b", "a", None]) == ["str b", "str a", "NoneType None"]
    assert memory.of([None, "c", "b"]) == ["NoneType None", "str c", "str b"]
    assert spelling.asked == ["b", "a", None, "c"]


def test_equal_values_of_other_types_are_others() -> None:
    memory = ValueMemory(Spelling())
    assert memory.of([1, 1.0, True, "1"]) == ["int 1", "float 1.0", "bool True", "str 1"]
    assert memory.of([True, 1.0]) == ["bool True", "float 1.0"]


def test_equal_values_that_are_spelt_otherwise_are_others() -> None:
    """Else a row would be read as the first one that equals it."""
    memory = ValueMemory(Spelling())
    east = datetime(2026, 1, 1, 1, tzinfo=timezone(timedelta(hours=1)))
    first = [0.0, Decimal("1.50"), east]
    second = [-0.0, Decimal("1.5"), east.astimezone(UTC)]
    assert first == second
    assert memory.of(first) == ["float 0.0", "Decimal 1.50", "datetime 2026-01-01 01:00:00+01:00"]
    assert memory.of(second) == ["float -0.0", "Decimal 1.5", "datetime 2026-01-01 00:00:00+00:00"]


def test_no_number_and_no_key_are_worked_out_too() -> None:
    memory = ValueMemory(Spelling())
    assert memory.of([math.nan, float("nan")]) == ["float nan", "float nan"]
    assert memory.of([[1], 2]) == ["list [1]", "int 2"]


def test_it_stays_small(monkeypatch) -> None:
    monkeypatch.setattr(value_memory, "MOST", 3)
    spelling = Spelling()
    memory = ValueMemory(spelling)
    assert memory.of([1, 2]) == ["int 1", "int 2"]
    assert memory.of([2, 3, 4]) == ["int 2", "int 3", "int 4"]
    assert memory.of([1, 2, 3, 4]) == ["int 1", "int 2", "int 3", "int 4"]
    assert len(memory._known) <= 3
