from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.base.errors import Refused
from core.mechanisms.games.game_both import GameBoth
from core.mechanisms.games.game_data import GameData
from core.mechanisms.games.game_query import GameQuery
from core.mechanisms.games.regret import duality_gaps, promise
from core.models.dense import Dense
from core.privacy.budget import Budget
from core.queries.intervals import Intervals
from core.queries.linear import Linear
from core.queries.marginals import Marginals
from core.schema.domain import Booleans, Domain
from core.table.counts import Cells
from tests.core.samples import SMALL, small_counts

GAMES = (GameData, GameQuery, GameBoth)
CLASSES = (
    (Marginals(order=2),),
    (Intervals(column="size"),),
    (Marginals(order=1), Linear(columns=("colour", "old"), weights=((0, 3, 8, 1, 5, 2), (8, 8, 0, 0, 1, 4)), whole=8)),
)


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=3)
@pytest.mark.parametrize("queries", CLASSES)
@pytest.mark.parametrize("kind", GAMES)
def test_the_game_converges_to_its_value(kind, queries):
    """The gap stays below the regret for every number of turns, and falls at least like 1/sqrt(turns)."""
    counts = small_counts()
    gaps = {}
    for turns in (16, 64, 256, 1024):
        game = kind(queries=queries, budget=Budget(1), rounds=turns)
        found = duality_gaps(game, counts)[-1]
        assert 0 <= found.gap <= promise(game, SMALL)
        assert promise(game, SMALL) <= 5 / np.sqrt(turns)
        gaps[turns] = found.gap
    assert gaps[1024] < 0.04
    assert gaps[1024] < gaps[16] / 3


@pytest.mark.parametrize("kind", GAMES)
def test_the_start_is_the_uniform_table_and_the_average_leaves_it(kind):
    queries, counts = (Marginals(order=2),), small_counts()
    game = kind(queries=queries, budget=Budget(1), rounds=400)
    table = duality_gaps(game, counts)
    start = queries[0].worst(counts, Dense.uniform(SMALL, 1.0))
    assert [found.turn for found in table] == list(range(1, 401))
    assert table[0].data == pytest.approx(start)
    assert table[-1].data < start / 3


def test_rates_are_the_learners_own():
    """A data player who does not learn stays at the uniform table; one who learns madly does worse than the default."""
    counts, game = small_counts(), GameData(queries=(Marginals(order=2),), budget=Budget(1), rounds=100)
    ends = [duality_gaps(replace(game, rate=rate), counts)[-1].data for rate in (1e-6, 0.0, 20.0)]
    assert ends[0] == pytest.approx(duality_gaps(game, counts)[0].data, rel=1e-3)
    assert ends[1] < min(ends[0], ends[2]) / 2


def test_a_matrix_that_does_not_fit_is_refused():
    wide = Domain(tuple(Booleans(name=f"fact{number}") for number in range(14)))
    counts = Cells(wide, np.ones(wide.shape(), dtype=np.int64))
    with pytest.raises(Refused, match="at most 16,777,216"):
        duality_gaps(GameData(queries=(Marginals(order=3),), budget=Budget(1)), counts)
