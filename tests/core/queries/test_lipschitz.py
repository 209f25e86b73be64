from itertools import product

import numpy as np
import pytest

from core.queries.lipschitz import Lipschitz
from core.schema.domain import Categories, Domain
from core.table.counts import Cells

FOUR = Domain((Categories(name="c", values=("w", "x", "y", "z")),))
QUERY = Lipschitz(
    columns=("c",),
    statistics=(
        ("largest",),
        ("top", 2),
        ("distance", (512, 0, 256, 256)),
        ("distance", (1024, 0, 0, 0)),
        ("difference", (0, 3), (1,)),
    ),
)


def test_the_statistics_are_what_they_say():
    answers = QUERY.answers(Cells(FOUR, np.array([1, 2, 3, 4])))
    shares = np.array([0.1, 0.2, 0.3, 0.4])
    half = 0.5 * np.abs(shares - [0.5, 0, 0.25, 0.25]).sum()
    assert np.allclose(answers, [0.4, 0.7, half, 0.9, 0.5 * (0.5 - 0.2)])
    assert QUERY.totals(Cells(FOUR, np.array([1, 2, 3, 4]))).dtype == np.int64


def test_one_row_moves_every_statistic_by_at_most_one():
    """All tables with up to 3 rows per cell, every added and every replaced row; the bound is reached."""
    whole = QUERY.denominator(FOUR)
    tables = np.array(list(product(range(4), repeat=4)), dtype=np.int64)
    steps = np.eye(4, dtype=np.int64)
    before = QUERY.values(tables, FOUR)
    added = np.abs(QUERY.values(tables[:, None] + steps, FOUR) - before[:, None])
    swaps = (steps[:, None] - steps[None, :]).reshape(-1, 4)
    moved = tables[:, None] + swaps
    replaced = np.abs(QUERY.values(moved, FOUR) - before[:, None])[(moved >= 0).all(axis=-1)]
    assert added.max() == whole
    assert (replaced.max(axis=0) == [whole, whole, whole, whole, whole]).all()


def test_many_tables_at_once_are_the_same_as_one_by_one():
    tables = np.random.default_rng(1).integers(0, 50, (7, 4))
    together = QUERY.values(tables, FOUR)
    assert np.array_equal(together, [QUERY.values(table, FOUR) for table in tables])
    assert np.allclose(QUERY.values(tables.astype(float), FOUR), together)


@pytest.mark.parametrize("place", range(5))
def test_every_statistic_has_a_sentence(place):
    assert QUERY.words(FOUR, place).startswith(("share of rows", "half the difference"))
