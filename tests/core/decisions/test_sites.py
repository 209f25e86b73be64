"""Sites: found by local search, in places or lists of distances."""

from __future__ import annotations

import numpy as np
import pytest

from core.decisions.sites.k_median import local_search
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.registry import decision_from
from core.schema.domain import Categories, Domain
from core.table.counts import Cells
from tests.kernels import run

MUCH = Budget(900)
"""Enough that noise decides nothing."""
ROW = Unit.row()


def test_local_search_finds_the_best_sites():
    random = np.random.default_rng(0)
    steps, demand = random.integers(0, 99, (30, 8)), random.integers(0, 9, 30).astype(float)
    costs = {(one, two): demand @ steps[:, [one, two]].min(axis=1) for one in range(8) for two in range(one)}
    assert demand @ steps[:, list(local_search(steps, demand, 2))].min(axis=1) <= 1.1 * min(costs.values())


def test_places_may_be_named_or_on_a_globe():
    cities = [["Oslo", 59.91, 10.75], ["Rome", 41.9, 12.5], ["Bonn", 50.73, 7.1]]
    homes = Domain((Categories(name="home", values=("Oslo", "Rome", "Bonn")),))
    public = {"sites": cities, "columns": ["home"], "k": 1, "metric": "latitude and longitude"}
    decision = decision_from("k-median-counts", MUCH, public)
    table = Cells(homes, np.array([2, 90, 1]))
    decided = run(decision, table)
    assert decided.facts["open"] == ["Rome"]
    # Oslo to Rome are 2,008 km, Bonn to Rome 1,067.
    assert decision.value(decided, table) == pytest.approx(2 * 2008 + 1067, rel=0.01)


AREAS = Domain((Categories(name="area", values=("hill", "shore")),))
APART = [["hill", "one", 1], ["hill", "two", 5], ["shore", "one", 9], ["shore", "two", 2]]


def test_distances_may_be_listed_from_areas_that_are_no_sites():
    public = {"sites": [["one"], ["two"]], "columns": ["area"], "k": 1, "distances": APART}
    decision, table = decision_from("k-median-counts", MUCH, public), Cells(AREAS, np.array([40, 10]))
    decided = run(decision, table)
    # 40 x 1 + 10 x 9 against 40 x 5 + 10 x 2.
    assert decided.facts["open"] == ["one"] and decision.value(decided, table) == pytest.approx(130, rel=1e-3)
    assert "triangle" in decision.guarantee(AREAS, ROW)


def test_a_list_of_sites_weighs_their_price_against_the_ways():
    public = {"sites": [["one"], ["two"]], "columns": ["area"], "distances": APART}
    table = Cells(AREAS, np.array([40, 10]))
    for opening, listed, cost in ((50.0, ["one", "two"], 160.0), (90.0, ["one"], 220.0)):
        decision = decision_from("facility-superset", MUCH, {**public, "opening": opening})
        decided = run(decision, table)
        assert decided.facts["open"] == listed
        assert decision.value(decided, table) == pytest.approx(cost, rel=1e-3) == decision.best(table)
    # A listed site to which nobody goes costs nothing.
    both = decision_from("facility-superset", MUCH, {**public, "opening": 50.0})
    assert both.value(run(both, table), Cells(AREAS, np.array([40, 0]))) == pytest.approx(90, rel=1e-3)
