"""What decisions decide, what they promise, and what they refuse."""

from __future__ import annotations

import json
from itertools import combinations, combinations_with_replacement

import numpy as np
import pytest

from core import registry
from core.base.errors import BadParameter, DeskError, Refused, Unknown
from core.decisions.cuts.min_cut import ENUMERATED
from core.decisions.decision import Decided, choices
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
from core.theory.decisions import decision_bounds as theory
from tests.core.decisions.test_covers import bucketed
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
