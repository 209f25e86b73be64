from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from core.base.errors import BadParameter, BadSchema
from core.kernel.kernel import Kernel
from core.mechanisms.discovery.discovery import LONGEST, Discovery, Suggestion
from core.privacy.budget import Budget
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.table.raw_columns import RawColumn, RawColumns, TextTally
from core.table.table import survey

PURE, APPROXIMATE = Budget(4), Budget(4, 1e-9)


def values(counts: dict[str, int], nulls: int = 0) -> RawColumn:
    return RawColumn(list(counts), np.array(list(counts.values()), dtype=np.int64), nulls)


def run(plan, private, noise=None, unit=None):
    """What is suggested for the column x, by a kernel that has what the plan declares and no more."""
    return plan.run(Kernel(RawColumns({"x": private}, unit or Unit.row()), noise or Noise(), plan.cost()))["x"]


def found(kind, private, budget=APPROXIMATE, unit=None):
    return run(Discovery(columns={"x": kind}, budget=budget), private, unit=unit)


@pytest.mark.parametrize("budget", [PURE, APPROXIMATE])
def test_bounds_are_round_and_hold_the_data(budget):
    ages = {str(age): 300 for age in range(18, 91)}
    assert found("number", values(ages, 500), budget) == Suggestion(low=10.0, high=100.0, missing=True)


def test_a_few_outliers_leave_no_trace():
    ages = {str(age): 300 for age in range(18, 91)} | {"1000000": 2, "-5000": 1}
    assert found("number", values(ages)) == Suggestion(low=10.0, high=100.0)


def test_years_bound_dates():
    days = {f"{year}-06-15": 2_000 for year in range(2019, 2025)}
    assert found("date", values(days)) == Suggestion(low="2019-01-01", high="2024-12-31")


@pytest.mark.parametrize("budget", [PURE, APPROXIMATE])
def test_frequent_texts_are_found_and_rare_ones_are_not(budget):
    regions = {"north": 9_000, "south": 8_000, "north-east": 7_000, "Zürich": 6_000, "person 17": 2}
    suggested = found("text", values(regions, nulls=5_000), budget)
    assert suggested.values == ("north", "south", "north-east", "Zürich")
    assert suggested.missing


def test_texts_that_are_too_long_to_be_paid_for_are_left_out():
    assert found("text", values({"a" * LONGEST: 9_000, "b" * (LONGEST + 1): 9_000})).values == ("a" * LONGEST,)


@pytest.mark.parametrize("kind", ["number", "date", "text"])
def test_too_small_a_table_gives_nothing(kind):
    assert found(kind, values({"1": 3}), Budget("0.01", 1e-9)).empty


def test_the_threshold_is_what_it_takes():
    plan = Discovery(columns={"x": "text"}, budget=APPROXIMATE)
    least = plan.threshold("x", Unit.row())
    for factor, expected in ((2.0, ("north",)), (0.2, ())):
        rows = {"north": round(factor * least)}
        assert run(plan, values(rows)).values == expected


def test_the_parts_add_up_to_the_budget():
    plan = Discovery(columns={"a": "number", "b": "text", "c": "date"}, budget=PURE)
    assert sum((event.epsilon for event in plan.cost().events), Fraction(0)) == PURE.epsilon


def test_bad_columns_are_named():
    with pytest.raises(BadParameter, match="columns"):
        Discovery(columns={}, budget=PURE)
    with pytest.raises(BadParameter, match="x"):
        Discovery(columns={"x": "colour"}, budget=PURE)


def test_a_survey_counts_the_rows_that_count(tmp_path):
    frame = pd.DataFrame({"who": [1, 1, 1, 2, None], "town": ["a", "a", "a", "b", "c"]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    for source in (frame, tmp_path / "t.csv"):
        counted, _ = survey(source, ["town"], Unit.id("who", 2), Noise())
        town = counted.columns["town"]
        assert counted.unit == Unit.id("who", 2)
        rows = dict(zip(town.texts, town.counts.tolist(), strict=True))
        assert rows == {"a": 2, "b": 1, "c": 0}
        with pytest.raises(BadSchema, match="village"):
            survey(source, ["village"], Unit.row(), Noise())


def test_nulls_are_counted_apart():
    tally = TextTally()
    tally.add(np.array([0, 1, -1, 1]), ["a", "b"])
    tally.add(np.array([-1, 0]), ["b"])
    column = tally.column()
    assert (column.texts, column.counts.tolist(), column.nulls) == (["a", "b"], [1, 3], 2)


def test_one_row_moves_one_count_even_where_texts_share_their_bytes():
    levels = []

    class Bare(Noise):
        def laplace(self, values, *, epsilon, sensitivity):
            levels.append(np.array(values))
            return np.array(values)

    plan = Discovery(columns={"x": "text"}, budget=PURE)
    for texts in ({"?": 1_000}, {"?": 1_000, "\ud800": 1}, {"\ud800": 1, "?": 1_000}):
        run(plan, values(texts), Bare())
    bare, more, other = levels[0], levels[LONGEST + 1], levels[2 * (LONGEST + 1)]
    assert np.abs(more - bare).sum() == np.abs(other - bare).sum() == 1
