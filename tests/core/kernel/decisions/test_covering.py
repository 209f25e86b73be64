"""Greedy choices in the kernel: what they refuse, and their exact divergence and delta on all small set covers."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from core.base.errors import BadParameter, Undeclared
from core.decisions.decision import in_turn
from core.kernel.decisions.covering import NOTHING, STEPS, Covering, Round
from core.kernel.kernel import Kernel
from core.kernel.tables import LARGEST, TOTAL
from core.privacy.accounting import UNITS, units
from core.privacy.budget import Budget
from core.privacy.events import Cost, Greedy, Laplace, Selection
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.registry import decision_from
from core.schema.domain import Categories, Domain
from core.table.counts import Cells
from core.theory.decisions.decision_bounds import greedy_delta
from tests.privacy.kit.recorder import Recorder

CELLS = ("element",)
DOMAIN = Domain((Categories(name="element", values=tuple("defg")),))
EVENT = Greedy(Fraction(1, 2), 3)
INSIDE = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]], dtype=bool)
SURE = 10**9
"""An offset that decides."""


def table(there=(1, 1, 1, 1), unit=None):
    return Cells(DOMAIN, np.array(there), unit or Unit.row())


def asked(*rounds):
    """Rounds that offer this and find what was chosen."""
    found = []
    for each in rounds:
        found.append((yield each))
    return found


def choose(rounds, covering=None, *, there=(1, 1, 1, 1), unit=None, noise=None, event=EVENT):
    kernel = Kernel(table(there, unit), noise or Noise(), Cost((event,)))
    return kernel.choose_in_turn(covering or Covering(CELLS, INSIDE), asked(*rounds), EVENT)


def sets(*offered, sure=None):
    """A round that offers these sets, of which one may be sure to be chosen."""
    return Round(np.array(offered), np.array([SURE * (place == sure) for place in offered]))


class TestRounds:
    def test_a_round_is_sent_what_was_chosen(self):
        assert choose([sets(0, 1, 2, sure=1), sets(2, 0, sure=0), sets(2)]) == [1, 1, 0]
        assert choose([]) == []

    @pytest.mark.parametrize(
        ("unit", "span"),
        [(Unit.row(), 1), (Unit.row("replace"), 2), (Unit.id("who", 3), 3), (Unit.id("who", 3, "replace"), 6)],
    )
    def test_every_round_is_drawn_with_the_same_span(self, unit, span):
        noise = Recorder(0)
        choose([sets(0), sets(1)], unit=unit, noise=noise)
        told = [(call.kind, call.amount, call.sensitivity) for call in noise.calls]
        assert told == [("select_within", Fraction(1, 2), span * STEPS)] * 2

    def test_a_set_scores_what_is_there_and_not_covered(self):
        noise = Recorder(0)
        rounds = [sets(0, 1, 2, sure=1), sets(2, NOTHING, 0, 1, sure=NOTHING), sets(0, 2, 1)]
        choose(rounds, there=(3, 1, 0, 2), noise=noise)
        scores = [call.hidden - each.offsets for call, each in zip(noise.calls, rounds, strict=True)]
        assert [(each // STEPS).tolist() for each in scores] == [[2, 1, 1], [1, 0, 1, 0], [1, 1, 0]]
        assert all((each % STEPS == 0).all() for each in scores)

    def test_a_set_that_was_chosen_may_be_offered_again_and_gains_nothing(self):
        noise = Recorder(0)
        choose([sets(1), sets(1), sets(0, 1, 2)], noise=noise)
        assert [(call.hidden // STEPS).tolist() for call in noise.calls] == [[2], [0], [1, 0, 1]]

    def test_offsets_are_added_in_steps_and_bounded(self):
        noise = Recorder(0)
        choose([Round(np.array([0, NOTHING, 2]), np.array([-5, 2**62, -(2**62)]))], noise=noise)
        assert noise.calls[0].hidden.tolist() == [2 * STEPS - 5, LARGEST, 2 * STEPS - LARGEST]

    def test_what_is_offered_is_a_set(self):
        for offered in ([3], [0, NOTHING - 1]):
            with pytest.raises(BadParameter, match="places"):
                choose([sets(*offered)])
        with pytest.raises(BadParameter, match="one number beside"):
            Round(np.array([0, 1]), np.array([0]))
        with pytest.raises(BadParameter, match="one number beside"):
            Round(np.array([[0, 1]]), np.array([[0, 0]]))

    def test_a_cell_has_its_entry(self):
        for wrong in (INSIDE[:, :3], np.ones((2, 5), dtype=bool)):
            with pytest.raises(BadParameter, match="every combination"):
                choose([sets(0)], Covering(CELLS, wrong))
        with pytest.raises(BadParameter, match="one line per set"):
            Covering(CELLS, INSIDE[0])

    def test_what_is_inside_stays_so(self):
        mine = INSIDE.copy()
        covering = Covering(CELLS, mine)
        mine[...] = True
        assert (covering.inside == INSIDE).all() and not covering.inside.flags.writeable

    def test_there_are_no_more_rounds_than_were_paid(self):
        noise = Recorder(0)
        assert choose([sets(0)] * 3, noise=noise) == [0, 0, 0]
        with pytest.raises(Undeclared):
            choose([sets(0)] * 4, noise=noise)
        assert len(noise.calls) == 6

    def test_they_are_paid_before_anything_is_drawn(self):
        noise = Recorder(0)
        for event in (Greedy(Fraction(1, 2), 2), Selection(Fraction(1, 2)), Laplace(Fraction(1, 2))):
            with pytest.raises(Undeclared):
                choose([sets(0)], noise=noise, event=event)
        kernel = Kernel(table(), noise, Cost((EVENT,)))
        kernel.choose_in_turn(Covering(CELLS, INSIDE), asked(), EVENT)
        with pytest.raises(Undeclared):
            kernel.choose_in_turn(Covering(CELLS, INSIDE), asked(sets(0)), EVENT)
        assert not noise.calls

    def test_only_the_kernels_own_is_taken(self):
        kernel = Kernel(table(), Noise(), Cost((EVENT,)))
        with pytest.raises(TypeError, match="Covering"):
            kernel.choose_in_turn(TOTAL, asked(), EVENT)
        with pytest.raises(TypeError, match="event"):
            kernel.choose_in_turn(Covering(CELLS, INSIDE), asked(), Selection(Fraction(1, 2)))
        with pytest.raises(TypeError, match="Round"):
            choose([TOTAL])


class Forced:
    """Noise that goes through every outcome of some rounds and multiplies their exact chances."""

    def __init__(self):
        self.ahead, self.path, self.chance = [()], (), 1.0

    def select_within(self, values, *, epsilon, span):
        odds = np.exp(float(epsilon / span) * (values - values.max()))
        odds = odds / odds.sum()
        if len(self.path) == len(self.script):
            self.ahead += [(*self.script, place) for place in range(1, len(values))]
            self.script = (*self.script, 0)
        self.path = (*self.path, self.script[len(self.path)])
        self.chance *= odds[self.path[-1]]
        return self.path[-1]

    def laplace(self, values, **_):
        return np.asarray(values)

    def generator(self):
        return np.random.default_rng(0)


def outcomes(decision, counts):
    """The chance of every sequence of choices."""
    noise, found = Forced(), {}
    while noise.ahead:
        noise.script, noise.path, noise.chance = noise.ahead.pop(), (), 1.0
        decision.run(Kernel(counts, noise, decision.cost(counts.domain, counts.unit)))
        found[noise.path] = noise.chance
    assert math.isclose(sum(found.values()), 1)
    return np.array([found[path] for path in sorted(found)])


def neighbours(unit):
    """Every table of which elements are there, with every one that a unit can make of it."""
    tables = list(product((0, 1), repeat=4))
    for one, two in product(tables, repeat=2):
        gone = sum(before > after for before, after in zip(one, two, strict=True))
        come = sum(before < after for before, after in zip(one, two, strict=True))
        replaced = unit.neighbours == "replace" and max(gone, come) <= unit.limit
        if one != two and (replaced or (min(gone, come) == 0 and gone + come <= unit.limit)):
            yield one, two


SETS = {"members": [["A", "d"], ["A", "e"], ["B", "e"], ["B", "f"], ["C", "f"], ["C", "g"]], "column": "element"}
WIDE = {**SETS, "members": [*SETS["members"], ["D", "d"], ["D", "e"], ["D", "f"], ["D", "g"]]}
TWO = {"members": [["A", "d"], ["A", "e"], *(["B", element] for element in "efg")], "column": "element"}
INSTANCES = {
    "alike": ("set-cover-choices", WIDE, Unit.row()),
    "several rows": ("set-cover-choices", WIDE, Unit.id("who", 2, "replace")),
    "weighted": ("set-cover-choices", {**TWO, "costs": [["A", 2]]}, Unit.row()),
    "replaced": ("set-cover-choices", {**TWO, "costs": [["A", 2]]}, Unit.row("replace")),
    "ranges": ("set-cover-ranges", {**SETS, "costs": [["A", 400], ["B", 3]]}, Unit.id("who", 2)),
}


@pytest.mark.exhaustive
@pytest.mark.parametrize(("name", "public", "unit"), INSTANCES.values(), ids=INSTANCES)
def test_exact_divergences_and_deltas_on_all_small_covers(name, public, unit, monkeypatch):
    """However large the rate: what all rounds tell of a unit is within what they are charged, at every order."""
    event = Greedy(Fraction(2, 5), 10**6)
    monkeypatch.setattr("core.decisions.covers.greedy_cover.in_turn", lambda *_: (event, Laplace(Fraction(1))))
    decision = decision_from(name, Budget(1), public)
    chances = {there: outcomes(decision, table(there, unit)) for there in product((0, 1), repeat=4)}
    worst = dict.fromkeys((Fraction(3, 2), Fraction(2), Fraction(3)), 0.0)
    for one, two in neighbours(unit):
        p, q = chances[one], chances[two]
        for order in worst:
            found = math.log(float((p ** float(order) * q ** float(1 - order)).sum())) / float(order - 1)
            worst[order] = max(worst[order], found)
        for epsilon in (0.0, 0.1, 0.3, 0.45, 0.6):
            told = np.maximum(p - math.exp(epsilon) * q, 0).sum()
            assert told <= (greedy_delta(epsilon, 0.4) if unit == Unit.row() else 1) + 1e-12
    for order, found in worst.items():
        assert 0 < found <= units(Cost((event,)), order) / UNITS


@pytest.mark.exhaustive
@pytest.mark.parametrize("budget", [Budget(1), Budget("0.3", "0.05")], ids=repr)
def test_a_budget_is_kept_on_all_small_covers(budget):
    decision = decision_from("set-cover-choices", budget, WIDE)
    chances = {there: outcomes(decision, table(there)) for there in product((0, 1), repeat=4)}
    told = [
        float(np.maximum(chances[one] - math.exp(float(budget.epsilon)) * chances[two], 0).sum())
        for one, two in neighbours(Unit.row())
    ]
    assert max(told) <= float(budget.delta) + 1e-12


def test_rare_chances_tell_as_much_as_is_proven():
    """An element in one set of many, in many rounds: the exact delta comes near the bound and stays below it."""
    rate, chance, rounds = 0.4, 2e-3, 20_000
    with_it = math.exp(rate) * chance / (1 + math.expm1(rate) * chance)
    steps = np.arange(rounds)
    without = np.append(chance * (1 - chance) ** steps, (1 - chance) ** rounds)
    there = np.append(with_it * (1 - with_it) ** steps, (1 - with_it) ** rounds)
    for epsilon in (0.1, 0.5, 2.0):
        told = max(np.maximum(p - math.exp(epsilon) * q, 0).sum() for p, q in ((without, there), (there, without)))
        assert 0.97 * greedy_delta(epsilon, rate) < told <= greedy_delta(epsilon, rate)


def test_with_a_delta_many_choices_cost_little_more_than_one():
    """More than the thesis' rate, more than one by one, and no less than one by one where they are few."""
    budget = Budget(1, "1e-6")
    thesis = 0.9 / (2 * math.log(math.e * 1e6))
    assert in_turn(budget, 500)[0].epsilon > 1.4 * thesis and in_turn(budget, 500)[0].epsilon > Fraction(42, 1000)
    assert in_turn(budget, 10)[0].epsilon > Fraction(13, 100)
    assert in_turn(Budget(1), 10)[0] == Greedy(Fraction(9, 100), 10)
    assert in_turn(budget, 1)[0] == Greedy(Fraction(9, 10), 1)
