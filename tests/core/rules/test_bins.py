"""The values that cells hold."""

from __future__ import annotations

import numpy as np

from core.rules.bins import BinEnds
from core.schema.domain import Integers, Reals


def test_whole_numbers_end_before_the_next_bin():
    ends = BinEnds.of(Integers(name="age", low=0, high=99, bins=10, missing=True))
    assert ends.lows[:2].tolist() == [0, 10] and ends.highs[-2] == 99 and np.isnan(ends.lows[-1]) and ends.step == 1


def test_rounded_reals_have_their_last_value_before_the_edge():
    ends = BinEnds.of(Reals(name="x", low=0, high=1, bins=4, decimals=1))
    assert np.allclose(ends.lows, [0, 0.3, 0.5, 0.8]) and np.allclose(ends.highs, [0.2, 0.4, 0.7, 1.0])


def test_bins_finer_than_the_rounding_keep_their_ends():
    ends = BinEnds.of(Reals(name="x", low=0, high=1, bins=4, decimals=0))
    assert ends.lows[1] == 0.25 and ends.highs[1] == 0.5


def test_other_reals_reach_up_to_the_edge():
    ends = BinEnds.of(Reals(name="x", low=0, high=1, bins=4))
    assert ends.step == 0 and ends.highs[0] < 0.25 and ends.highs[-1] == 1
