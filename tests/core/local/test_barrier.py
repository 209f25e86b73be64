"""The measured barrier lies below its bound, and grows where asking directly does not."""

from __future__ import annotations

import numpy as np
import pytest

from core.base.errors import BadParameter
from core.local.barrier import measured_barrier


def test_the_bound_holds_and_the_loss_shows():
    runs = [[measured_barrier(1, 20_000, bits) for bits in (1, 5)] for _ in range(6)]
    assert all(one.from_conjunctions <= one.bound + 1e-12 for pair in runs for one in pair)
    few, many = (np.mean([pair[place].from_conjunctions for pair in runs]) for place in (0, 1))
    direct = np.mean([pair[1].asked_directly for pair in runs])
    assert many > 5 * few and many > 5 * direct


def test_refusals():
    for people, bits in ((100, 0), (100, 9), (2, 2)):
        with pytest.raises(BadParameter):
            measured_barrier(1, people, bits)
