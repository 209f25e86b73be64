from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from core.discovery import LONGEST, Discovery, Suggestion, Values, values_of
from core.errors import BadParameter, BadSchema
from core.noise import Noise
from core.privacy import Budget, Unit
from core.table import survey
from tests.core.recorder import Recorder

PURE, APPROXIMATE = Budget(4), Budget(4, 1e-9)


def values(counts: dict[str, int], nulls: int = 0) -> Values:
    return Values(list(counts), np.array(list(counts.values()), dtype=np.int64), nulls)


def found(kind, private, budget=APPROXIMATE, unit=None):
    return Discovery(columns={"x": kind}, budget=budget).run({"x": private}, unit or Unit.row(), Noise())["x"]


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
        assert plan.run({"x": values(rows)}, Unit.row(), Noise())["x"].values == expected


@pytest.mark.parametrize("budget", [PURE, APPROXIMATE])
@pytest.mark.parametrize("unit", [Unit.row(), Unit.row("replace"), Unit.id("who", 3)])
@pytest.mark.parametrize("kind", ["number", "text"])
def test_record_and_replay_on_neighbours(budget, unit, kind):
    generator = np.random.default_rng(3)
    plan = Discovery(columns={"x": kind}, budget=budget)
    reached = 0.0
    for seed in range(30):
        texts = ["", "1", "17", "200", "north", "nor", "n"]
        first = generator.integers(0, 900, len(texts))
        second = first.copy()
        second[generator.integers(len(texts))] += unit.limit
        if unit.neighbours == "replace":
            first[generator.integers(len(texts))] += unit.limit
        recorded = Recorder(seed)
        one = plan.run({"x": Values(texts, first, 7)}, unit, recorded)
        replayed = Recorder(seed, recorded.calls)
        two = plan.run({"x": Values(texts, second, 7)}, unit, replayed)
        assert one == two
        for before, after in zip(recorded.calls, replayed.calls, strict=True):
            assert (before.kind, before.amount, before.sensitivity) == (after.kind, after.amount, after.sensitivity)
            assert before.distance(after) <= before.sensitivity
            reached = max(reached, before.distance(after) / before.sensitivity)
        assert recorded.cost() == plan.cost()
    assert reached == 1


def test_the_parts_add_up_to_the_budget():
    plan = Discovery(columns={"a": "number", "b": "text", "c": "date"}, budget=PURE)
    assert sum((event.epsilon for event in plan.cost().events), Fraction(0)) == PURE.epsilon


def test_bad_wishes_are_named():
    with pytest.raises(BadParameter, match="columns"):
        Discovery(columns={}, budget=PURE)
    with pytest.raises(BadParameter, match="x"):
        Discovery(columns={"x": "colour"}, budget=PURE)


def test_a_survey_counts_the_rows_that_count(tmp_path):
    frame = pd.DataFrame({"who": [1, 1, 1, 2, None], "town": ["a", "a", "a", "b", "c"]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    for source in (frame, tmp_path / "t.csv"):
        counted, _ = survey(source, ["town"], Unit.id("who", 2), Noise())
        rows = dict(zip(counted["town"].texts, counted["town"].counts.tolist(), strict=True))
        assert rows == {"a": 2, "b": 1, "c": 0}
        with pytest.raises(BadSchema, match="village"):
            survey(source, ["village"], Unit.row(), Noise())


def test_nulls_are_counted_apart():
    assert values_of(np.array([0, 1, -1, 1]), ["a", "b"]).nulls == 1
