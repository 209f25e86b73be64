"""Statistics by group: exact from exact counts, and intervals that hold whenever every answer is within its margin."""

from __future__ import annotations

import numpy as np
import pytest

from core.queries.kit.by_group import QUANTILES, lines_by_group
from core.queries.statistics import WHOLE, Statistics
from core.schema.domain import Booleans, Categories, Domain, Integers, Reals
from core.table.counts import Cells

DOMAIN = Domain(
    (
        Categories(name="town", values=("north", "south", "west")),
        Integers(name="age", low=-3, high=11, missing=True),
        Booleans(name="ill"),
    )
)
ASKED = Statistics(column="age", groups=("ill", "town"))


def cells(seed: int, most: int = 6) -> Cells:
    return Cells(DOMAIN, np.random.default_rng(seed).integers(0, most, DOMAIN.cells()))


def truth(counts: Cells, town: int, ill: int) -> np.ndarray:
    """The ages of a group, row by row."""
    table = counts.marginal(("town", "age", "ill"))[town, :15, ill]
    return np.repeat(np.arange(-3, 12), table)


def test_exact_counts_give_exact_statistics() -> None:
    counts = cells(1)
    lines = list(lines_by_group(ASKED, DOMAIN, ASKED.totals(counts) / WHOLE, 0.0))
    assert len(lines) == 6
    for line in lines:
        ill, town = line.labels
        ages = truth(counts, ("north", "south", "west").index(town), ("false", "true").index(ill))
        found = line.numbers
        assert found["number"].value == len(ages)
        assert found["sum"].value == pytest.approx(ages.sum(), abs=1e-3)
        assert found["mean"].value == pytest.approx(ages.mean(), abs=1e-4)
        for name, share in QUANTILES.items():
            exact = np.sort(ages)[int(np.ceil(share * len(ages))) - 1]
            assert (found[name].value, found[name].low, found[name].high) == (exact, exact, exact)


def test_intervals_hold_whatever_moves_the_answers_within_their_margin() -> None:
    generator = np.random.default_rng(2)
    for trial in range(40):
        counts, margin = cells(trial, 9), float(generator.uniform(0.5, 12))
        exact = ASKED.totals(counts) / WHOLE
        moved = exact + generator.uniform(-margin, margin, exact.shape)
        if trial % 2:
            moved = exact + margin * generator.choice([-1, 1], exact.shape)
        known = list(lines_by_group(ASKED, DOMAIN, exact, None))
        for line, true in zip(lines_by_group(ASKED, DOMAIN, moved, margin + 1e-6), known, strict=True):
            for name, between in line.numbers.items():
                if (value := true.numbers[name].value) is not None:
                    assert between.low is not None and between.high is not None
                    assert between.low - 1e-3 <= value <= between.high + 1e-3, name


def test_a_group_without_rows_has_no_mean() -> None:
    empty = np.zeros(ASKED.totals(cells(1)).shape)
    for line in lines_by_group(ASKED, DOMAIN, empty, 2.0):
        assert line.numbers["mean"].value is None and line.numbers["median"].value is None
        assert (line.numbers["mean"].low, line.numbers["mean"].high) == (-3, 11)


def test_bins_count_at_their_middle() -> None:
    domain = Domain((Reals(name="x", low=0, high=4, bins=2),))
    counts = Cells(domain, np.array([3, 1]))
    asked = Statistics(column="x")
    [line] = lines_by_group(asked, domain, asked.totals(counts) / WHOLE, None)
    assert line.numbers["sum"].value == pytest.approx(3 * 1 + 1 * 3)
    assert line.labels == ()
