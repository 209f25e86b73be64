"""Means, quantiles and correlations beside the truth, against numpy on the rows themselves."""

from __future__ import annotations

import numpy as np
import pytest

from core.planning.quality.summaries import correlations_of, numbers_of, shown
from core.schema.domain import Categories, Dates, Domain, Integers, Reals
from core.table.counts import Cells

DOMAIN = Domain(
    (Integers(name="x", low=0, high=9), Integers(name="y", low=-5, high=4), Categories(name="c", values=("a",)))
)


def _cells(rows: np.ndarray) -> Cells:
    counts = np.zeros(DOMAIN.shape(), dtype=np.int64)
    np.add.at(counts, (rows[:, 0], rows[:, 1] + 5, 0), 1)
    return Cells(DOMAIN, counts)


@pytest.fixture(scope="module")
def rows() -> np.ndarray:
    generator = np.random.default_rng(4)
    x = generator.integers(0, 10, 800)
    return np.stack([x, np.clip(x - 5 + generator.integers(-2, 3, 800), -5, 4)], axis=1)


def test_numbers_are_those_of_the_rows(rows):
    found = {(number.columns, number.name): number for number in numbers_of(_cells(rows), _cells(rows))}
    assert found[("x",), "mean"].truth == pytest.approx(rows[:, 0].mean())
    assert found[("y",), "median"].truth == np.quantile(rows[:, 1], 0.5, method="inverted_cdf")
    assert found[("y",), "upper quartile"].truth == np.quantile(rows[:, 1], 0.75, method="inverted_cdf")
    assert all(number.inside for number in found.values())
    assert {columns for columns, _ in found} == {("x",), ("y",)}, "a list of values has no mean"


def test_the_interval_of_a_mean_is_that_of_samples(rows):
    mean = numbers_of(_cells(rows), _cells(rows))[0]
    assert (mean.high - mean.low) / 2 == pytest.approx(1.96 * rows[:, 0].std() / np.sqrt(800))


def test_correlations_are_those_of_the_rows(rows):
    turned = rows.copy()
    turned[:, 1] = -1 - turned[:, 1]
    [number] = correlations_of(_cells(rows), _cells(turned))
    assert number.truth == pytest.approx(np.corrcoef(rows.T)[0, 1])
    assert number.released == pytest.approx(-number.truth)
    assert number.low < number.truth < number.high and not number.inside


def test_an_interval_holds_as_often_as_it_says(rows):
    """300 samples of the same table: at least 88 % of the means lie inside; fewer happen by chance once in 10^5."""
    generator, truth = np.random.default_rng(5), _cells(rows)
    held = [numbers_of(truth, _cells(rows[generator.integers(0, 800, 800)]))[0].inside for _ in range(300)]
    assert np.mean(held) > 0.88


def test_numbers_are_written_in_the_units_of_their_column():
    assert shown(Dates(name="d", low="2024-01-01", high="2024-12-31"), 19_800.4) == "2024-03-18"
    assert shown(Reals(name="r", low=0, high=1e6, bins=4), 12_345.67) == "12,346"
    assert shown(Reals(name="r", low=0, high=1, bins=4), 0.12345) == "0.1235"
