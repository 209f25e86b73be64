"""What decisions decide, what they promise, and what they refuse."""

from __future__ import annotations

import json
from itertools import combinations, combinations_with_replacement

import networkx as nx
import numpy as np
import pytest

from core import registry
from core.base.errors import BadParameter, DeskError, Refused, Unknown
from core.decisions.covers.set_buckets import Arranged
from core.decisions.covers.set_cover import covered_by, greedy_sets
from core.decisions.covers.set_presence import likely
from core.decisions.covers.vertex_cover import cover_cost, greedy_order
from core.decisions.cuts.min_cut import ENUMERATED
from core.decisions.cuts.suggestions import cleared, contracted, most_suggested, suggested
from core.decisions.decision import Decided, choices
from core.decisions.sites.k_median import local_search
from core.decisions.sites.places import METRICS
from core.kernel.decisions.values import Gains, SetWelfare
from core.kernel.decisions.vertex_order import STEPS
from core.kernel.remembered import Remembered
from core.privacy.budget import Budget
from core.privacy.events import Cost
from core.privacy.spendable import covers
from core.privacy.unit import Unit
from core.registry import decision_for, decision_from
from core.schema.domain import Categories, Domain, Integers, Reals
from core.table.counts import Cells
from core.table.stand_in import StandIn
from core.theory.decisions import decision_bounds as theory
from tests.kernels import run
from tests.privacy.kit.decisions import (
    ELEMENTS,
    ENDS,
    GRAPH,
    INSTANCES,
    LISTED,
    PLACES,
    SETS,
    SITES,
    WITHOUT_K,
    built,
    neighbouring,
)

MUCH = Budget(900)
"""Enough that noise decides nothing."""
ROW = Unit.row()
DRAWN = ("vertex-cover-order", "vertex-cover-classes")


@pytest.mark.parametrize("name", registry.decisions)
def test_with_much_budget_it_decides_as_without_privacy(name):
    for decision, domain in built(name, MUCH):
        counts = neighbouring(domain, ROW, np.random.default_rng(3))[0]
        table = Cells(domain, 40 * counts.cells)
        decided = run(decision, table)
        least, found = decision.best(table), decision.value(decided, table)
        # An order that is drawn need not be a good one: what it costs on average is a theorem below.
        room = float(sum(line["cost"] for line in decided.lines)) if name in DRAWN else 0.35 * max(1, least)
        assert abs(found - least) <= room, name
        if decided.estimate is not None and name != "facility-superset":
            assert decided.estimate.value == pytest.approx(found, abs=6 * decided.estimate.within + 1e-6)
        assert Decided.from_json(json.loads(json.dumps(decided.to_json()))) == decided
        assert decision.guarantee(domain, ROW).endswith(".")


def test_every_problem_is_said_in_words():
    assert set(registry.problems) == {kind.problem for kind in registry.decisions.values()}


@pytest.mark.parametrize("problem", registry.problems)
def test_a_problem_names_its_decision(problem):
    assert registry.decisions[decision_for(problem)].problem == problem
    assert not registry.decisions[decision_for(problem)].for_study


def test_what_cannot_be_decided_says_why():
    with pytest.raises(Refused, match="corollary 48"):
        decision_for("facility-location")
    with pytest.raises(Unknown, match="k-median"):
        decision_for("travelling")


def test_with_a_delta_many_choices_get_more():
    pure, _ = choices(Budget(1), 200)
    some, estimate = choices(Budget(1, 1e-6), 200)
    assert some.epsilon > 3 * pure.epsilon
    assert covers(Budget(1, 1e-6), Cost.of([some] * 200 + [estimate]))


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


@pytest.mark.exhaustive
def test_a_larger_graph_is_cut_among_suggestions():
    barbell = nx.barbell_graph(15, 0)
    names = tuple(f"v{place}" for place in range(30))
    domain = Domain((Categories(name="from", values=names), Categories(name="to", values=names)))
    table = StandIn(domain, np.array(barbell.edges(), dtype=np.int64), ROW)
    assert len(names) > ENUMERATED
    decision = decision_from("min-cut", Budget(30), ENDS)
    assert decision.value(run(decision, table), table) == 1
    sides = suggested(nx.to_numpy_array(barbell), 0.01, 1.0, np.random.default_rng(0))
    assert not sides[:, 0].any() and sides.any(axis=1).all()


def test_noisy_weights_are_cleared():
    """Of weights 0 and 3 under noise of scale 4: right on average, and with a third less of variance."""
    random = np.random.default_rng(0)
    noise = random.laplace(0, 4.0, 100_000)
    for weight in (0.0, 3.0):
        found = cleared(weight + noise, 4.0, 3.0)
        assert found.mean() == pytest.approx(weight, abs=0.15)
        assert found.var() < 0.67 * noise.var()


def test_no_more_cuts_are_suggested_than_the_promise_counts():
    weights = np.random.default_rng(0).laplace(0, 2, (24, 24))
    assert len(suggested(weights + weights.T, 2.0, 1.0, np.random.default_rng(0))) <= most_suggested(24)


def test_contractions_find_the_smallest_cut():
    """Karger: each one with a chance of at least 2/n^2; on a barbell far more often."""
    generator, barbell = np.random.default_rng(0), nx.to_numpy_array(nx.barbell_graph(5, 0))
    found = [contracted(barbell, generator) for _ in range(40)]
    assert all(0 < side.sum() < 10 for side in found)
    assert sum(set(np.flatnonzero(side)) == set(range(5)) for side in found) > 8
    # Nothing is joined to the last vertex: chance decides, and both sides still have somebody.
    assert 0 < contracted(np.zeros((4, 4)), generator).sum() < 4


def test_a_cut_that_is_not_measured_is_chosen_with_all_of_epsilon():
    with_it, without = (decision_from("min-cut", Budget(1), {**ENDS, "estimated": flag}) for flag in (True, False))
    assert [float(each.epsilon) for each in with_it.cost(GRAPH, ROW).events] == [0.9, 0.1]
    assert [float(each.epsilon) for each in without.cost(GRAPH, ROW).events] == [1.0]
    table = neighbouring(GRAPH, ROW, np.random.default_rng(2))[0]
    assert run(without, table).estimate is None and run(with_it, table).estimate is not None


def test_padding_of_an_order_is_no_larger_than_the_thesis():
    names = tuple(f"v{place}" for place in range(50))
    domain = Domain((Categories(name="from", values=names), Categories(name="to", values=names)))
    decision = decision_from("vertex-cover-order", Budget(1), ENDS)
    printed = 4 / 0.9 * np.sqrt(50 / np.arange(50, 0, -1))
    asked = decision._asked(domain, ROW)
    assert (asked.padding / STEPS <= printed * 1.001).all()
    assert float(asked.epsilon(ROW)) == pytest.approx(0.9, rel=0.01)


def test_sets_are_divided_by_ranges_of_their_costs():
    """Costs 1, 3 and 400 with four elements: ranges 0, 1 and 5; who is in the cheap set never takes the dear one."""
    decision = decision_from("set-cover-ranges", MUCH, {**SETS, "costs": [["A", 400], ["B", 3]]})
    assert decision.ranges().tolist() == [5, 1, 0]
    assert {part: own.tolist() for part, own in decision._elements(ELEMENTS).items()} == {
        0: [False, False, True, True],
        1: [False, True, False, False],
        5: [True, False, False, False],
    }
    decided = run(decision, Cells(ELEMENTS, np.ones(4, dtype=int)))
    held = {(line["range"], line["set"]) for line in decided.lines}
    assert held == {(0, "C"), (0, "B"), (1, "B"), (5, "A")}
    # e is in A and in B, and takes B; g can only take C, f takes B or C.
    assert decision.value(decided, Cells(ELEMENTS, np.array([0, 1, 0, 1]))) == 4


def test_noisy_presence_is_read_by_its_sign():
    """Of 0s and 1s with discrete Laplace noise the sign says all there is: the exact posterior, by Bayes' rule."""
    rate, share = 0.7, 0.3
    seen = np.arange(-40, 41)
    chances = np.exp(-rate * np.abs(seen)) * (1 - np.exp(-rate)) / (1 + np.exp(-rate))
    absent, present = np.interp(seen, seen, chances), np.interp(seen - 1, seen, chances)
    exact = share * present / (share * present + (1 - share) * absent)
    often = np.rint(1e6 * (share * present + (1 - share) * absent)).astype(int)
    found = likely(np.repeat(seen, often).astype(float), rate)
    expected = np.repeat(exact, often)
    assert found[0] == pytest.approx(expected[0], abs=2e-3) and found[-1] == pytest.approx(expected[-1], abs=2e-3)
    assert found.mean() == pytest.approx(share, abs=2e-3)


def test_orders_cover_every_edge_and_element():
    present = neighbouring(GRAPH, ROW, np.random.default_rng(1))[0].cells.reshape(4, 4) > 0
    present = (present | present.T) & ~np.eye(4, dtype=bool)
    assert cover_cost(present, greedy_order(present, np.ones(4, dtype=int)), np.ones(4, dtype=int)) <= 4
    decision = next(built("set-cover-presence", MUCH))[0]
    inside = decision.inside(ELEMENTS)
    order = greedy_sets(inside, np.array([1.0, 1, 1, 1]), decision.cost_of())
    assert sorted(order) == [0, 1, 2]
    assert (covered_by(inside, order) >= 0).all()


class TestTheorems:
    """At their own parameters, on small instances: what is promised holds in nearly all of 200 runs."""

    def test_one_choice_of_a_cut(self):
        decision, domain = next(built("min-cut", Budget(1)))
        table = Cells(domain, np.random.default_rng(5).integers(0, 9, 16))
        loss = theory.selection_loss(1, 0.9, 7, 0.05)
        over = [decision.value(run(decision, table), table) - decision.best(table) > loss for _ in range(200)]
        assert sum(over) <= 20

    @pytest.mark.exhaustive
    def test_an_order_of_vertices_is_within_its_ratio(self):
        decision, domain = next(built("vertex-cover-order", Budget(1)))
        star = np.zeros((4, 4), dtype=int)
        star[0, 1:] = 1
        table = Cells(domain, star)
        mean = float(np.mean([decision.value(run(decision, table), table) for _ in range(200)]))
        asked = decision._asked(domain, ROW)
        assert mean <= theory.vertex_cover_ratio(float(asked.padding.mean()) / STEPS)

    @pytest.mark.exhaustive
    def test_a_rule_is_within_its_loss(self):
        decision, domain = next(built("learner", Budget(1)))
        table = Cells(domain, np.random.default_rng(6).integers(0, 60, domain.cells()))
        loss = theory.learner_loss(1, 0.9, decision._log_rules(domain), 0.05)
        over = [decision.value(run(decision, table), table) - decision.best(table) > loss for _ in range(200)]
        assert sum(over) <= 20

    @pytest.mark.exhaustive
    @pytest.mark.parametrize("budget", [Budget("0.2"), Budget("0.2", "0.001")], ids=["pure", "approximate"])
    @pytest.mark.parametrize("name", ["projects", "projects-exact"])
    def test_nobody_gains_by_a_lie(self, name, budget):
        """Every instance of up to two other agents, every true value and every lie, exactly: 2 epsilon + delta."""
        _, domain = next(built("projects", budget))
        decision = decision_from(name, budget, {"columns": domain.names, "k": 2})
        most = theory.truthful_gain(float(budget.epsilon), float(budget.delta))
        assert most == pytest.approx(2 * float(budget.epsilon) + float(budget.delta))
        worth = np.stack([values(decision, domain, cell) for cell in range(12)])
        largest = 0.0
        for size in range(3):
            for others in combinations_with_replacement(range(12), size):
                there = np.bincount(others, minlength=12)
                enjoyed = worth @ np.stack([outcome(decision, domain, there, report) for report in range(12)]).T
                largest = max(largest, float((enjoyed.max(axis=1) - enjoyed.diagonal()).max()))
        assert 0 < largest <= most

    @pytest.mark.exhaustive
    @pytest.mark.parametrize("budget", [Budget(1), Budget(60)], ids=["1", "60"])
    def test_orders_by_classes_of_cost_are_within_their_ratio(self, budget):
        """T 7.7.5 at its own parameters: five sets of three classes of cost."""
        decision, counts = bucketed(budget)
        rate = float(choices(budget, 3)[0].epsilon)
        most = theory.bucket_cover_ratio(5, rate) * 7 + theory.bucket_cover_surplus(8, 3, rate, 0.05)
        costs = [decision.value(run(decision, counts), counts) for _ in range(200)]
        assert np.mean(np.array(costs) > most) <= 0.05
        if budget.epsilon == 60:
            shuffled = [np.random.default_rng(seed).permutation(5) for seed in range(200)]
            lines = [tuple({"set": decision.sets[place]} for place in order) for order in shuffled]
            blind = [decision.value(Decided(sentence="", lines=each), counts) for each in lines]
            assert np.mean(costs) < np.mean(blind) - 1, "better than an order by chance"

    def test_sums_of_noises(self):
        noises = np.random.default_rng(8).laplace(0, 2.0, (400, 50))
        assert (np.abs(noises.sum(axis=1)) > theory.sum_of_noises(2.0, 50, 1, 0.05)).mean() <= 0.05


def bucketed(budget):
    """Sets of costs 8, 4, 3, 1 and 1, and all elements in some row: the smallest cover is B and C for 7."""
    held = {"A": "defghi", "B": "def", "C": "ghi", "D": "de", "E": "g"}
    domain = Domain((Categories(name="element", values=tuple("defghi")),))
    members = [[name, element] for name, elements in held.items() for element in elements]
    public = {"members": members, "column": "element", "costs": [["A", 8], ["B", 4], ["C", 3]]}
    return decision_from("set-cover-buckets", budget, public), Cells(domain, np.ones(6, dtype=int))


def test_buckets_are_put_first_and_the_rest_from_cheap_to_dear():
    decision, counts = bucketed(MUCH)
    assert decision.classes() == [(0,), (1, 2), (3, 4)] and decision.rounded().tolist() == [8, 4, 4, 1, 1]
    arranged = Arranged().extended((0,), 0).extended((2, 1), 1).extended((3, 4), 1)
    assert arranged.bucket == (2, 3) and arranged.rest == (4, 1, 0)
    asked = decision.rules(counts.domain, ROW, Arranged((2,), (1, 0)), 2, 1.0)
    # Whatever only dearer sets hold is the same for every candidate of the cheapest class, and is left out.
    assert (asked.rules[:, [2, 4, 5]] == -1).all() and asked.sensitivity(ROW) == 2**10
    assert len(np.unique(asked.groups)) == 2 * 3


def test_the_score_of_an_order_is_what_the_best_way_to_go_on_costs():
    """By all orders of all sets, for every table of which elements are there, up to what all candidates share."""
    decision, counts = bucketed(MUCH)
    inside, costs = decision.inside(counts.domain), decision.rounded()
    asked = decision.rules(counts.domain, ROW, Arranged(), 0, 1e9)
    for bits in range(0, 64, 7):
        there = np.array([bits >> place & 1 for place in range(6)])
        smallest = min(
            costs[list(chosen)].sum()
            for size in range(6)
            for chosen in combinations(range(5), size)
            if not (there * ~inside[list(chosen)].any(axis=0)).any()
        )
        found = asked.scores(Remembered(Cells(counts.domain, there))) / 2**10
        assert found.max() == pytest.approx(-smallest, abs=0.01), "observation 61"


def outcome(decision, domain, others, report):
    """The exact chances of all ordered pairs of projects where one agent reports a cell."""
    counts = Remembered(Cells(domain, others + np.eye(12, dtype=int)[report]))
    valued, found = decision._valued(domain), np.zeros((3, 3))
    if decision.name == "projects-exact":
        pairs = tuple(combinations(range(3), 2))
        places, event = tuple(zip(*pairs, strict=True)), choices(decision.budget, 1)[0]
        found[places] = chances(SetWelfare(valued, pairs), counts, event)
        return found.ravel()
    (first, second), _ = decision.events()
    for one, chance in enumerate(chances(Gains(valued, ()), counts, first)):
        left = [place for place in range(3) if place != one]
        found[one, left] = chance * chances(Gains(valued, (one,)), counts, second)
    return found.ravel()


def chances(asked, counts, event):
    """Of every candidate of one choice by the exponential mechanism."""
    scores = asked.scores(counts).astype(float)
    odds = np.exp(float(event.epsilon) / asked.span(ROW) * (scores - scores.max()))
    return odds / odds.sum()


def values(decision, domain, cell):
    """What an agent of this cell enjoys of all ordered pairs."""
    codes = np.array(np.unravel_index(cell, domain.shape()))
    worth = decision._valued(domain).values(codes[None])[0] / 2**10
    return np.array([max(worth[one], worth[two]) for one in range(3) for two in range(3)])


def test_a_rule_without_a_condition_is_one_for_every_row():
    decision, domain = next(built("learner", MUCH))
    everybody = np.zeros(domain.shape(), dtype=int)
    everybody[1] = 9
    decided = run(decision, Cells(domain, everybody))
    assert decided.sentence == "'ill' is yes in every row." and decided.lines == ({"rule": "every row", "says": "yes"},)


def test_what_a_decision_costs_is_never_said_to_be_below_nothing():
    decision, domain = next(built("min-cut", Budget("0.01")))
    nothing = Cells(domain, np.zeros(domain.cells(), dtype=int))
    assert min(run(decision, nothing).estimate.value for _ in range(12)) == 0


def test_rows_that_are_no_edge_of_their_own_are_counted_for_the_curator():
    ends = {"columns": ["from", "to"]}
    names = ("a", "b", "c")
    domain = Domain(tuple(Categories(name=name, values=names, missing=True) for name in ("from", "to")))
    # Three loops, a to b five times in either direction, b to c once, and four rows without one of the ends.
    counts = Cells(domain, np.array([[2, 3, 0, 1], [2, 1, 1, 0], [0, 0, 0, 1], [1, 1, 0, 0]]))
    expected = [4, 3, 4]
    for name, repeated in (("vertex-cover-order", "count once"), ("min-cut", "weights add up")):
        found = decision_from(name, Budget(1), ends).misfits(counts)
        assert list(found.values()) == expected
        assert [word in list(found)[place] for place, word in enumerate(("both ends", "itself", repeated))] == [
            True
        ] * 3
    elements = Domain((Categories(name="element", values=names, missing=True),))
    sets = decision_from(
        "set-cover-presence", Budget(1), {"members": [["s", name] for name in names], "column": "element"}
    )
    assert list(sets.misfits(Cells(elements, np.array([3, 0, 1, 2]))).values()) == [2, 2]


BAD = [
    ("k-median", PLACES, {**SITES, "k": 3}, "k"),
    ("k-median", PLACES, {**SITES, "sites": [["n", 0]]}, "two coordinates"),
    ("k-median", PLACES, {**SITES, "sites": [["n", 0, None], ["m", 1, 1]]}, "finite"),
    ("k-median", PLACES, {**SITES, "sites": []}, "at least one"),
    ("k-median", PLACES, {**SITES, "sites": [["n", 91, 0], ["m", 0, 0]], "metric": METRICS[1]}, "latitude"),
    ("k-median", PLACES, {**SITES, "sites": [["n", 0, 0], ["n", 1, 1]]}, "only once"),
    ("k-median", GRAPH, {**SITES, "columns": ["from", "to"]}, "no column of numbers"),
    ("k-median", GRAPH, {**SITES, "columns": ["from"]}, "lack a value"),
    ("k-median", ELEMENTS, {**LISTED, "distances": [["d", "n", 1]]}, "lack one from"),
    ("k-median", ELEMENTS, {**LISTED, "distances": [["d", "n", -1]]}, "at least 0"),
    ("k-median", ELEMENTS, {**LISTED, "distances": [["d", "n"]]}, "how far apart"),
    ("k-median", ELEMENTS, {**LISTED, "distances": [["z", "n", 1]]}, "no value"),
    ("k-median", ELEMENTS, {**LISTED, "distances": [["d", "z", 1]]}, "no site"),
    ("k-median", PLACES, {**LISTED, "columns": ["x", "y"]}, "one column"),
    ("facility-superset", PLACES, {**WITHOUT_K, "opening": 0}, "opening"),
    ("min-cut", PLACES, {"columns": ["x", "y"]}, "vertices"),
    ("min-cut", GRAPH, {"columns": ["from"]}, "columns"),
    ("min-cut", GRAPH, {**ENDS, "weight": "from"}, "whole numbers"),
    ("vertex-cover", GRAPH, {**ENDS, "costs": [["z", 3]]}, "no vertex"),
    ("vertex-cover", GRAPH, {**ENDS, "costs": [["p", -3]]}, "costs"),
    ("vertex-cover", GRAPH, {**ENDS, "costs": [["p", 1.5]]}, "whole cost"),
    ("vertex-cover", GRAPH, {**ENDS, "costs": [["p", 1], ["p", 2]]}, "only once"),
    ("set-cover", ELEMENTS, {**SETS, "members": [["A", "d"]]}, "in no set"),
    ("set-cover", ELEMENTS, {**SETS, "members": [["A", "z"]]}, "no value"),
    ("set-cover", ELEMENTS, {**SETS, "members": []}, "every set"),
    ("set-cover", ELEMENTS, {**SETS, "costs": [["Z", 1]]}, "no set"),
    ("public-projects", GRAPH, {"columns": ["from", "to"], "k": 1}, "neither"),
    ("rule", GRAPH, {"label": "from", "columns": ["to"]}, "two values"),
]


@pytest.mark.parametrize(("problem", "domain", "public", "says"), BAD)
def test_public_mistakes_are_refused_in_one_sentence(problem, domain, public, says):
    with pytest.raises(DeskError, match=says) as problem_found:
        decision_from(decision_for(problem), Budget(1), public).check(domain, ROW)
    assert str(problem_found.value).count(". ") == 0


def test_sizes_that_do_not_fit_are_refused():
    wide = Domain((Integers(name="x", low=0, high=999), Reals(name="y", low=0, high=1, bins=999)))
    with pytest.raises(Refused, match="coarser"):
        decision_from("k-median-counts", Budget(1), SITES).check(wide, ROW)
    names = tuple(f"v{place}" for place in range(ENUMERATED + 1))
    large = Domain((Categories(name="from", values=names), Categories(name="to", values=names)))
    with pytest.raises(Refused, match="min-cut"):
        decision_from("min-cut-padded", Budget(1), ENDS).check(large, ROW)


def test_an_option_that_is_not_one_is_refused():
    with pytest.raises(BadParameter, match="not an option"):
        decision_from("min-cut", Budget(1), {**ENDS, "sensitivity": 0})


def test_every_instance_is_of_its_decision():
    assert INSTANCES.keys() == registry.decisions.keys()
