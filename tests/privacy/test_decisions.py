"""The same checks for every registered decision: replay on neighbours, exact losses, declared against recorded cost."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from core import registry
from core.kernel.asked import AskedScores, Change
from core.kernel.decisions import covering, covers
from core.kernel.decisions.weighed import Weighed
from core.privacy import accounting
from core.privacy.budget import Budget
from core.privacy.events import Cost, Greedy, Selection
from core.privacy.unit import Unit
from tests.accounts import part_of
from tests.kernels import run
from tests.privacy.kit.decisions import INSTANCES, built, neighbouring
from tests.privacy.kit.recorder import Recorder
from tests.privacy.kit.replay import check_steps, paired

BUDGETS = (Budget(1), Budget(1, 1e-6))
UNITS = (Unit.row(), Unit.row("replace"), Unit.id("who", 2), Unit.id("who", 2, "replace"))
PAIRS = 12


def test_every_decision_is_replayed():
    assert INSTANCES.keys() == registry.decisions.keys()


def on_neighbours(decision, domain, unit, seed):
    one, two = neighbouring(domain, unit, np.random.default_rng(seed))
    recorded = Recorder(seed)
    first = run(decision, one, recorded)
    replayed = Recorder(seed, recorded.calls)
    second = run(decision, two, replayed)
    assert first.to_json() == second.to_json(), "what is decided must follow from released values alone"
    return recorded, paired(recorded, replayed)


def as_reserved(happened: Cost, declared: Cost) -> Cost:
    """Single choices of one epsilon as the greedy ones that were declared, which cost less together."""
    greedy = {each.epsilon for each in declared.events if isinstance(each, Greedy)}
    others = [each for each in happened.events if not (isinstance(each, Selection) and each.epsilon in greedy)]
    often = Counter(each.epsilon for each in happened.events if isinstance(each, Selection))
    return Cost.of([*others, *(Greedy(each, often[each]) for each in greedy if often[each])])


def check(name: str, unit: Unit, pairs: int = PAIRS) -> float:
    """Replays on neighbours; gives the largest part of a declared sensitivity that was used."""
    reached = 0.0
    for budget in BUDGETS:
        for decision, domain in built(name, budget):
            decision.check(domain, unit)
            declared = decision.cost(domain, unit)
            assert 0 < part_of(budget, declared) <= 1
            for seed in range(pairs):
                recorder, steps = on_neighbours(decision, domain, unit, seed)
                reached = max(reached, check_steps(steps))
                happened = as_reserved(recorder.cost(), declared)
                for order in (Fraction(3, 2), Fraction(8)) if budget.delta else (None,):
                    assert accounting.units(happened, order) <= accounting.units(declared, order)
                if not budget.delta:
                    # Everything that these steps can say, to the last outcome: their losses never sum to more.
                    assert sum(before.loss(after) for before, after in steps) <= float(budget.epsilon) * (1 + 1e-9)
    return reached


@pytest.mark.crossing(keep=1, each="name")
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: f"{unit.limit}-{unit.neighbours}")
@pytest.mark.parametrize("name", registry.decisions)
def test_record_and_replay_on_neighbours(name, unit):
    assert check(name, unit) > 0.45


@pytest.mark.parametrize("name", registry.decisions)
def test_a_decision_on_nothing_is_a_decision(name):
    for decision, domain in built(name, Budget(1)):
        empty = neighbouring(domain, Unit.row(), np.random.default_rng(0))[0]
        empty.cells[...] = 0
        assert run(decision, empty).lines


class TestMutants:
    """Each breaks one thing that privacy rests on; the checks above must notice."""

    def test_a_sensitivity_of_half(self, monkeypatch):
        monkeypatch.setattr(Weighed, "largest", property(lambda self: 2))
        with pytest.raises(AssertionError, match="sensitivity"):
            check("k-median-search", Unit.row(), 3)

    def test_one_sided_although_replaced(self, monkeypatch):
        monkeypatch.setattr(AskedScores, "span", lambda self, unit: self.sensitivity(unit))
        with pytest.raises(AssertionError):
            check("learner", Unit.row("replace"))

    def test_a_change_that_forgets_the_other_end(self, monkeypatch):
        monkeypatch.setattr(covers.Degrees, "change", lambda self, unit: Change(unit.l1, unit.l1))
        with pytest.raises(AssertionError, match="sensitivity"):
            check("vertex-cover-degrees", Unit.row())

    def test_elements_that_count_for_two(self, monkeypatch):
        monkeypatch.setattr(covering, "STEPS", 2 * covering.STEPS)
        monkeypatch.setattr(covering.Covering, "span", lambda self, unit: unit.l1 * covering.STEPS // 2)
        with pytest.raises(AssertionError, match="sensitivity"):
            check("set-cover-choices", Unit.row(), 3)

    def test_counts_in_place_of_presence(self, monkeypatch):
        monkeypatch.setattr(
            covers.CoverCost, "counts", lambda self, counts: counts.marginal(self.columns).sum(keepdims=True) * 9
        )
        with pytest.raises(AssertionError):
            check("set-cover-presence", Unit.row())

    def test_a_decision_that_looks(self, monkeypatch):
        kind = registry.decisions["k-median-counts"]
        honest = kind.run

        def looking(self, kernel, *rest):
            decided = honest(self, kernel, *rest)
            rows = int(kernel._Kernel__counts.marginal(()))
            return type(decided)(sentence=f"{decided.sentence} {rows}", lines=decided.lines, facts=decided.facts)

        monkeypatch.setattr(kind, "run", looking)
        with pytest.raises(AssertionError, match="released"):
            check("k-median-counts", Unit.row())
