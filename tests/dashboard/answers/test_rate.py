"""So many questions a minute, however they are asked."""

from __future__ import annotations

import pytest

from dashboard.answers.rate import Rates


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_minute_has_so_many_questions() -> None:
    clock = Clock()
    rates = Rates(clock)
    assert [rates.wait("a", 3) for _ in range(3)] == [0, 0, 0]
    assert rates.wait("a", 3) == pytest.approx(20)
    assert rates.wait("b", 3) == 0, "each session has its own"
    clock.now += 19
    assert rates.wait("a", 3) == pytest.approx(1)
    clock.now += 1.01
    assert rates.wait("a", 3) == 0
    assert rates.wait("a", 3) > 19
    clock.now += 10_000
    assert [rates.wait("a", 3) > 0 for _ in range(4)] == [False, False, False, True], (
        "nothing is saved up beyond a minute"
    )


def test_a_large_statement_leaves_a_debt() -> None:
    clock = Clock()
    rates = Rates(clock)
    assert rates.wait("a", 6) == 0
    rates.charge("a", 6, 29)
    assert rates.wait("a", 6) == pytest.approx(250)
    clock.now += 249
    assert rates.wait("a", 6) == pytest.approx(1)
    clock.now += 1.01
    assert rates.wait("a", 6) == 0
