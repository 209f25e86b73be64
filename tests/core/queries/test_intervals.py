import math
from itertools import combinations

import numpy as np
import pytest

from core.queries.intervals import Intervals
from core.queries.kit import pieces
from core.queries.unions import Unions
from core.schema.domain import Dates, Domain, Integers
from core.table.counts import Cells

AGES = Domain((Integers(name="age", low=0, high=99, bins=10, missing=True),))


def test_prefix_sums_give_every_interval():
    counts = Cells(AGES, np.arange(11))
    sums = Intervals(column="age").prefix(counts)
    assert sums.dtype == np.int64
    assert sums.tolist() == [0, *np.cumsum(np.arange(10)).tolist()]
    pairs = list(combinations(range(11), 2))
    assert Intervals(column="age").totals(counts).tolist() == [sums[j] - sums[i] for i, j in pairs]


def test_rows_without_a_value_count_in_the_total_only():
    counts = Cells(AGES, np.array([1] + [0] * 9 + [3]))
    assert Intervals(column="age").answers(counts).max() == 0.25


def test_bits_cut_the_column_into_nearly_equal_pieces():
    query = Intervals(column="age", bits=3)
    assert query.edges(AGES).tolist() == [0, 1, 2, 3, 5, 6, 7, 8, 10]
    assert math.isclose(math.exp(query.log_size(AGES)), 36)


def test_the_words_name_the_outer_bounds():
    query = Intervals(column="age")
    assert query.interval(AGES, 3, 6).words == "share of rows with age from 30 to 59"
    days = Domain((Dates(name="day", low="2024-01-01", high="2024-01-31"),))
    assert Intervals(column="day").interval(days, 3, 4).words == "share of rows with day = 2024-01-04"
    assert Unions(column="age").union(AGES, (0, 1, 3, 6)).words == (
        "share of rows with age from 0 to 9 or age from 30 to 59"
    )


def test_the_worst_interval_of_a_million_cells():
    domain = Domain((Integers(name="n", low=0, high=10**6 - 1),))
    truth, estimate = np.zeros(10**6, dtype=np.int64), np.zeros(10**6, dtype=np.int64)
    truth[[10, 500_000]], estimate[[999_999, 20]] = 2, 2
    # The difference of the cumulative distributions is 1/2 from 10, 0 from 20, 1/2 from 500,000, 0 at the end.
    assert Intervals(column="n").worst(Cells(domain, truth), Cells(domain, estimate)) == 0.5
    assert Unions(column="n", parts=2).worst(Cells(domain, truth), Cells(domain, estimate)) == 1.0


@pytest.mark.parametrize("parts", [1, 2, 3, 4])
def test_the_worst_union_is_the_best_of_all_runs(parts):
    domain = Domain((Integers(name="n", low=0, high=8),))
    for seed in range(5):
        generator = np.random.default_rng(seed)
        truth, estimate = (Cells(domain, generator.integers(0, 9, 9)) for _ in range(2))
        difference = truth.cells / truth.cells.sum() - estimate.cells / estimate.cells.sum()
        sums = np.array([0.0, *np.cumsum(difference)])
        brute = max(
            abs(sum(sums[cuts[2 * k + 1]] - sums[cuts[2 * k]] for k in range(r)))
            for r in range(1, parts + 1)
            for cuts in combinations(range(10), 2 * r)
        )
        assert math.isclose(Unions(column="n", parts=parts).worst(truth, estimate), brute)


def test_ends_are_uniform_over_all_intervals():
    drawn = pieces.ends(60_000, 3, np.random.default_rng(0))
    assert (drawn[:, 0] < drawn[:, 1]).all()
    seen = np.unique(drawn, axis=0, return_counts=True)[1]
    assert len(seen) == 6
    assert np.abs(seen - 10_000).max() < 500
