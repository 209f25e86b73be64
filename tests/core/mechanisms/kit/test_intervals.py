"""Shares of a number of rows that is itself measured."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from core.kernel.asked import one_number
from core.kernel.noise_level import NoiseLevel
from core.mechanisms.kit.intervals import KnownTotal, reply
from core.privacy.events import Gaussian, Laplace
from core.privacy.noise import Noise
from core.privacy.unit import Unit

ROW = Unit.row()
RUNS = 4_000


@pytest.mark.parametrize("event", [Laplace(Fraction(1, 50)), Gaussian(Fraction(1, 5_000))])
def test_a_share_of_nearly_all_rows_is_as_uncertain_as_their_number(event):
    level = NoiseLevel(event, one_number(ROW))
    noise, hidden = Noise(), np.full(RUNS, 900)
    draw = {"epsilon": event.epsilon} if isinstance(event, Laplace) else {"rho": event.rho}
    drawn = noise.laplace if isinstance(event, Laplace) else noise.gaussian
    change = {"sensitivity": 1} if isinstance(event, Laplace) else {"sensitivity_squared": 1}
    counts, rows = drawn(hidden, **draw, **change), drawn(hidden + 100, **draw, **change)

    def held(reach: float | None) -> float:
        inside = 0
        for count, whole in zip(counts.tolist(), rows.tolist(), strict=True):
            total = KnownTotal.measured(float(whole), event, ROW) if reach is None else KnownTotal(float(whole), reach)
            low, high = total.share(float(count), level.tail)
            inside += low <= 0.9 <= high
        return inside / RUNS

    assert held(None) >= 0.95
    assert held(0.0) < 0.9, "without the noise of the rows it would claim too much"


def test_a_public_number_of_rows_leaves_all_to_the_answer():
    total = KnownTotal.measured(1_000.0, None, ROW)
    assert total.reach == 0 and total.high == 1_000
    assert total.share(500.0, lambda miss: 1_000 * miss) == (0.45, 0.55)


def test_few_rows_promise_nothing():
    assert KnownTotal(10.0, 20.0).share(5.0, lambda miss: 1.0)[1] == 1.0


def test_a_reply_has_both_intervals_or_neither():
    total = KnownTotal(1_000.0, 100.0)
    known, unknown = reply(500.0, total, lambda miss: 10.0, "hard", 3), reply(-4.0, total, None, "unchecked", 0)
    assert known.margin == 10 and known.interval == (490 / 1_100, 510 / 900)
    assert (unknown.count, unknown.share, unknown.margin, unknown.interval) == (0.0, 0.0, None, None)
