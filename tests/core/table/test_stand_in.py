import numpy as np
import pandas as pd

from core.privacy.unit import Unit
from core.table.stand_in import StandIn
from tests.core.samples import SMALL


def frame():
    return pd.DataFrame({"colour": ["red", "blue", "blue"], "size": [0, 3, 3], "old": [True, False, False]})


def test_rows_of_a_public_table_are_counted():
    stand = StandIn.of(frame(), SMALL, Unit.row())
    assert stand.marginal(("colour",)).tolist() == [1, 0, 2]
    assert int(stand.marginal(())) == 3
    codes, times = stand.combinations(("colour", "size"))
    assert codes.tolist() == [[0, 0], [2, 3]]
    assert times.tolist() == [1, 2]


def test_the_number_of_rows_is_public_where_the_unit_says_so():
    assert StandIn.of(frame(), SMALL, Unit.row()).public_rows is None
    assert StandIn.of(frame(), SMALL, Unit.row("replace")).public_rows == 3


def test_invented_rows_are_uniform():
    stand = StandIn.uniform(SMALL, Unit.row(), 24_000, np.random.default_rng(0))
    counts = stand.marginal(SMALL.names)
    assert counts.sum() == 24_000
    assert np.abs(counts - 1_000).max() < 6 * np.sqrt(1_000)
