from __future__ import annotations

from math import comb

import numpy as np
import pytest

from core.kernel.remembered import Remembered
from core.kernel.scores import DatabaseErrors
from core.mechanisms.smalldb import candidates
from core.mechanisms.smalldb.candidates import SmallDatabases, at, changed
from core.models.nets.public_net import everything
from core.queries.intervals import Intervals
from core.queries.linear import Linear
from core.queries.marginals import Marginals
from core.schema.domain import Booleans, Domain, Integers
from tests.core.samples import SMALL, small_counts

MIXED = (
    Marginals(order=2),
    Intervals(column="size"),
    Linear(columns=("old", "size"), weights=((0, 1, 2, 3, 4, 3, 2, 1),), whole=4),
)


@pytest.mark.parametrize(("cells", "rows"), [(1, 1), (1, 3), (2, 5), (3, 2), (3, 7), (4, 4), (5, 3), (24, 3)])
def test_every_multiset_is_listed_once(cells, rows):
    found = at(cells, rows, np.arange(comb(cells + rows - 1, rows)))
    assert sorted(tuple(sorted(line)) for line in found.tolist()) == [tuple(line) for line in everything(cells, rows)]
    picked = np.array([0, len(found) // 2, len(found) - 1])
    assert at(cells, rows, picked).tolist() == found[picked].tolist()


def direct(databases):
    """Totals from histograms, class by class."""
    lines = []
    for database in databases:
        cells = np.bincount(database, minlength=24).reshape(SMALL.shape())
        tables = [cells.sum(axis=axis).ravel() for axis in (2, 1, 0)]
        sizes = cells.sum(axis=(0, 2))
        spans = [sizes[i:j].sum() for i in range(4) for j in range(i + 1, 5)]
        weighted = (cells.sum(axis=0).T.ravel() * (0, 1, 2, 3, 4, 3, 2, 1)).sum()
        lines.append(np.concatenate([4 * np.concatenate([*tables, spans]), [weighted]]))
    return np.stack(lines)


@pytest.mark.parametrize("way", ["matrix", "lines", "one by one"])
def test_answers_are_the_same_in_every_way(monkeypatch, way):
    monkeypatch.setattr(candidates, "DENSE", 100 if way == "matrix" else 0)
    monkeypatch.setattr(candidates, "MOST_CELLS", 1 if way == "one by one" else 100)
    monkeypatch.setattr(candidates, "BLOCK", 100)
    held = SmallDatabases(MIXED, SMALL)
    databases = np.random.default_rng(2).integers(0, 24, (40, 7))
    expected = direct(databases)
    assert held.grid == 4
    assert (held.answers(databases) == expected).all()
    assert (np.concatenate([block for _, block in held.blocks(databases)]) == expected).all()
    errors = DatabaseErrors(MIXED, SMALL, 7, 40, lambda: held.blocks(databases), 300)
    counts = small_counts(300)
    target = np.concatenate([query.totals(counts) * (4 // query.denominator(SMALL)) for query in MIXED])
    assert (errors.scores(Remembered(counts)) == -np.abs(7 * target - 300 * expected).max(axis=1)).all()


def test_blocks_cover_all_databases_in_order(monkeypatch):
    monkeypatch.setattr(candidates, "BLOCK", 50)
    held = SmallDatabases((Intervals(column="size"),), SMALL)
    starts, blocks = zip(*held.lines(3), strict=True)
    assert len(blocks) > 1
    assert starts[1] == len(blocks[0])
    assert np.concatenate(blocks).tolist() == at(4, 3, np.arange(20)).tolist()
    firsts, answers = zip(*held.every_block(3), strict=True)
    assert firsts == starts
    assert np.concatenate(answers).tolist() == held.answers(np.concatenate(blocks)).tolist()


def test_only_columns_with_a_question_count():
    assert SmallDatabases((Intervals(column="size"),), SMALL).cells == 4
    assert SmallDatabases((Marginals(order=1, columns=("old", "colour")),), SMALL).columns == ("colour", "old")
    assert SmallDatabases((Linear(columns=(), weights=((1,),), whole=1),), SMALL).cells == 3


def test_changed_databases_are_near_and_far_and_stay_in_the_universe():
    generator = np.random.default_rng(3)
    database = generator.integers(0, 24, 10)
    found = changed(database, 3000, (3, 4, 2), generator)
    assert found.shape == (3000, 10)
    assert found.min() >= 0
    assert found.max() < 24
    moved = (found != database).sum(axis=1)
    assert (moved == 1).mean() > 0.1
    assert (moved >= 5).mean() > 0.05
    # Every record can appear, also ones that the database did not hold.
    assert len(np.unique(found)) == 24


def test_one_column_changes_at_a_time_where_rows_stay_near():
    """In a universe too large to meet a record by chance, a new row is far away, a copy, or differs in one column."""
    generator = np.random.default_rng(4)
    shape = (1000, 1000, 1000)
    database = generator.integers(0, 10**9, 8)
    found = changed(database, 600, shape, generator)
    old, new = np.stack(np.unravel_index(np.tile(database, (600, 1)), shape)), np.stack(np.unravel_index(found, shape))
    differing = (old != new).sum(axis=0)
    assert {0, 1, 3} <= set(differing.ravel().tolist())
    assert 0.1 < (differing == 1).sum() / (differing > 0).sum() < 0.6


def test_records_keep_the_columns_that_were_asked_about():
    wide = Domain((Booleans(name="a"), Integers(name="x", low=0, high=4), Booleans(name="b")))
    held = SmallDatabases((Intervals(column="x"),), wide)
    codes = held.records(np.array([0, 4, 2, 2]), np.random.default_rng(0))
    assert codes[:, 1].tolist() == [0, 4, 2, 2]
    assert set(codes[:, 0]) <= {0, 1}
