"""Counts of the private table are exact, and what was counted is remembered unspoilt."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.base.errors import BadParameter, BadSchema, Refused
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.schema.domain import Domain, Integers
from core.table import counting
from core.table.counts import Counts
from core.table.table import Table
from tests.core.table.people import labelled, people, schema


@pytest.mark.exhaustive
def test_marginals_equal_pandas(table: Table) -> None:
    counts: Counts = table
    expected = labelled(people(), schema())
    for order in (1, 2, 3):
        for columns in itertools.combinations(table.domain.names, order):
            grouped = expected.groupby(list(columns)).size()
            marginal = counts.marginal(columns)
            assert marginal.dtype == np.int64
            assert marginal.shape == table.domain.shape(columns)
            assert marginal.sum() == len(expected)
            keys = np.array([np.atleast_1d(key) for key in grouped.index])
            assert marginal[tuple(keys.T)].tolist() == grouped.tolist()
            points, sizes = counts.combinations(columns)
            assert points.tolist() == keys.tolist()
            assert sizes.tolist() == grouped.tolist()
    assert counts.marginal(()).shape == ()
    assert counts.marginal(()) == len(expected)
    assert counts.marginal(("ill", "age")).tolist() == counts.marginal(("age", "ill")).T.tolist()
    points, sizes = counts.combinations(())
    assert points.shape == (1, 0)
    assert sizes.tolist() == [len(expected)]


@given(sizes=st.lists(st.integers(1, 300), min_size=1, max_size=4), rows=st.integers(0, 400), seed=st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_counting_agrees_with_numpy(sizes: list[int], rows: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    columns = [draw.integers(0, size, rows).astype(np.min_scalar_type(size - 1)) for size in sizes]
    points, often = counting.occurring(columns, sizes, rows)
    expected, counts = np.unique(np.stack(columns, axis=1).astype(int), axis=0, return_counts=True)
    assert points.tolist() == expected.tolist()
    assert often.tolist() == counts.tolist()
    if np.prod(sizes) < 100_000:
        table = counting.histogram(columns, sizes, rows)
        assert table[tuple(points.T)].tolist() == often.tolist()
        assert table.sum() == rows


def test_combinations_of_few_cells_take_no_memory_by_the_row() -> None:
    rows = 2_000_000
    columns = [np.arange(rows, dtype=np.uint32).astype(np.uint8) % size for size in (200, 30)]
    tracemalloc.start()
    points, often = counting.occurring(columns, (200, 30), rows)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert often.sum() == rows and len(points) == len(np.unique(columns[0].astype(int) * 30 + columns[1]))
    assert most < 2 * rows, "less than two bytes for each row: a block and the cells"


def test_counting_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(3)
    columns = [draw.integers(0, 5, 1001).astype(np.uint8), draw.integers(0, 3, 1001).astype(np.uint8)]
    whole = counting.histogram(columns, (5, 3), 1001)
    monkeypatch.setattr(counting, "BLOCK", 7)
    assert (counting.histogram(columns, (5, 3), 1001) == whole).all()


def test_points_of_a_universe_beyond_64_bits() -> None:
    domain = Domain(tuple(Integers(name=f"n{place}", low=0, high=999) for place in range(40)))
    codes = np.random.default_rng(2).integers(0, 1000, (300, 40))
    codes[150:] = codes[:150]
    loaded = Table.load(pd.DataFrame(codes, columns=domain.names), domain, Unit.row(), Noise())
    points, counts = loaded.combinations(domain.names)
    assert points.tolist() == np.unique(codes, axis=0).tolist()
    assert (counts == 2).all()
    with pytest.raises(Refused, match="1,000,000,000"):
        loaded.marginal(["n1", "n2", "n3"])
    with pytest.raises(BadSchema, match="nobody"):
        loaded.marginal(["nobody"])


def test_intervals_and_totals(table: Table) -> None:
    ages = labelled(people(), schema())["age"]
    assert table.interval("age", 2, 5) == ages.between(2, 5).sum()
    assert table.interval("age", 0, 9) == table.rows
    assert table.total_of("age") == ages.sum()
    weights = labelled(people(), schema())["weight"]
    assert table.total_of("weight") == weights[weights < 16].sum()
    for low, high in ((-1, 3), (3, 10), (5, 4)):
        with pytest.raises(BadParameter, match="age"):
            table.interval("age", low, high)


def test_a_table_counted_before_is_not_counted_again_and_cannot_be_spoiled(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = table.marginal(["town", "ill"])
    expected = first.copy()
    monkeypatch.setattr(counting, "histogram", lambda *_: pytest.fail("counted again"))
    first[:] = -1
    for _ in range(2):
        again = table.marginal(("town", "ill"))
        assert np.array_equal(again, expected)
        again[:] = -1


def test_few_tables_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "MOST_KEPT", 10)
    kept, counts = counting.CountMemory(), np.arange(4)
    kept.keep(["large"], np.arange(11), rows=10**6)
    kept.keep(["few rows"], counts, rows=4 * counting.WORTH - 1)
    kept.keep(["a"], counts, rows=4 * counting.WORTH)
    kept.keep(["b"], counts, rows=10**6)
    assert [kept.find([name]) is not None for name in ("large", "few rows", "a", "b")] == [False, False, True, True]
    kept.keep(["c"], counts, rows=10**6)
    assert [kept.find([name]) is not None for name in ("a", "b", "c")] == [False, False, True]
