"""Exact privacy and exact distributions of every way to choose a small database, on tiny schemas."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest
from scipy import stats

from core.base.errors import BadParameter, Refused
from core.mechanisms.smalldb import choice
from core.mechanisms.smalldb.net import Net
from core.mechanisms.smalldb.smalldb import SmallDb
from core.mechanisms.smalldb.smalldb_linear import SmallDbLinear
from core.privacy.accounting import capacity, units
from core.privacy.budget import Budget
from core.privacy.events import Gaussian, Laplace, Selection
from core.privacy.noise import Noise
from core.privacy.spendable import mixed_capacity, mixed_order, mixed_rho_for
from core.privacy.unit import Unit
from core.queries.intervals import Intervals
from core.queries.linear import Linear
from core.queries.marginals import Marginals
from core.schema.domain import Booleans, Categories, Domain, Integers
from core.table.counts import Cells
from tests.accounts import part_of
from tests.core.mechanisms.outcomes import SEED, Script, outcomes, pairs
from tests.kernels import run
from tests.privacy.kit.recorder import Recorder

LINE = Domain((Integers(name="x", low=0, high=2),))
INTERVALS = (Intervals(column="x"),)
MIXED = (Marginals(order=1), Linear(columns=("x",), weights=((0, 3, 8), (5, 1, 0)), whole=8))
UNITS = (Unit.row(), Unit.row("replace"), Unit.id("person", 2), Unit.id("person", 2, "replace"))
COMMON = {Unit.row(): 9, Unit.row("replace"): 9, UNITS[2]: 5, UNITS[3]: 4}
"""Rows that neighbours have in common, at most: enough for 500 pairs."""


PURE = Budget(1)


def ways(queries=INTERVALS, budget=PURE):
    shared = {"queries": queries, "budget": budget, "rows": 2}
    for kind in (SmallDb, SmallDbLinear):
        yield kind(**shared, method="enumerate"), 1
        yield kind(**shared, method="net", members=6), 1
        yield kind(**shared, method="search", rounds=2, proposals=2), 2
    yield Net(**shared, net="all"), 1
    yield Net(**shared, net="random", members=6), 1


def named(case):
    return f"{case[0].name}-{getattr(case[0], 'method', '') or case[0].net}"


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: f"{unit.limit}-{unit.neighbours}")
@pytest.mark.parametrize("case", list(ways()), ids=named)
@pytest.mark.slow
def test_no_outcome_tells_neighbours_apart_by_more_than_epsilon(case, unit):
    mechanism, choices = case
    found = pairs(unit, 3, COMMON[unit])
    assert len(found) >= 500
    every = {table for pair in found for table in pair}
    logs = {table: outcomes(mechanism, Cells(LINE, table, unit), choices) for table in every}
    largest = max(np.abs(logs[first] - logs[second]).max() for first, second in found)
    assert 0.3 < largest <= 1 + 1e-9


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=3)
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: f"{unit.limit}-{unit.neighbours}")
@pytest.mark.parametrize("case", list(ways(MIXED)), ids=named)
def test_the_declared_sensitivity_holds_and_is_reached(case, unit):
    mechanism, _ = case
    reached = 0.0
    for seed, (first, second) in enumerate(sorted(pairs(unit, 3, 2))):
        recorded = Recorder(seed)
        run(mechanism, Cells(LINE, first, unit), recorded)
        replayed = Recorder(seed, recorded.calls)
        run(mechanism, Cells(LINE, second, unit), replayed)
        assert len(recorded.calls) == len(replayed.calls)
        for before, after in zip(recorded.calls, replayed.calls, strict=True):
            assert (before.kind, before.amount, before.sensitivity) == (after.kind, after.amount, after.sensitivity)
            assert before.distance(after) <= before.sensitivity
            if before.kind == "select":
                assert before.sensitivity == 2 * unit.limit * 8
                reached = max(reached, before.distance(after) / before.sensitivity)
    assert reached == 1


def law(table, queries, rows, epsilon):
    """The exponential mechanism over all databases of so many rows, from its definition."""
    truth = Cells(LINE, table)
    found = {}
    for places in combinations_with_replacement(range(3), rows):
        small = Cells(LINE, np.bincount(places, minlength=3))
        error = max(query.worst(truth, small) for query in queries) * sum(table)
        found[places] = np.exp(-epsilon * error / 2)
    whole = sum(found.values())
    return {places: weight / whole for places, weight in found.items()}


@pytest.mark.parametrize("queries", [INTERVALS, MIXED], ids=["intervals", "mixed"])
@pytest.mark.parametrize("kind", [SmallDb, SmallDbLinear])
@pytest.mark.slow
def test_the_chosen_database_follows_the_exponential_mechanism(kind, queries):
    table, runs = (1, 4, 2), 2500
    mechanism = kind(queries=queries, budget=Budget(1), method="enumerate", rows=3)
    expected = law(table, queries, 3, 1)
    assert np.exp(outcomes(mechanism, Cells(LINE, table, Unit.row("replace")))).tolist() == pytest.approx(
        [expected[tuple(sorted(line))] for line in choice.at(3, 3, np.arange(10)).tolist()]
    )
    counts = Cells(LINE, table, Unit.row("replace"))
    seen = Counter(tuple(sorted(run(mechanism, counts, Noise()).codes[:, 0].tolist())) for _ in range(runs))
    assert set(seen) <= set(expected)
    observed = [seen[places] for places in expected]
    assert stats.chisquare(observed, [runs * share for share in expected.values()]).pvalue > 1e-6


@pytest.mark.slow
def test_a_search_follows_the_law_of_its_choices():
    class Repeated(Noise):
        def generator(self):
            return np.random.default_rng(SEED)

    table, runs = Cells(LINE, (1, 6, 2), Unit.row("replace")), 2000
    mechanism = SmallDb(queries=INTERVALS, budget=Budget(4), method="search", rows=2, rounds=2, proposals=2)
    paths = {}
    for log, path in zip(outcomes(mechanism, table, 2), np.ndindex(3, 3), strict=True):
        released = run(mechanism, table, Script(0, path))
        key = tuple(released.codes[:, 0].tolist())
        paths[key] = paths.get(key, 0.0) + np.exp(log)
    seen = Counter(tuple(run(mechanism, table, Repeated()).codes[:, 0].tolist()) for _ in range(runs))
    assert set(seen) <= set(paths)
    observed, expected = [seen[key] for key in paths], [runs * share for share in paths.values()]
    assert stats.chisquare(observed, expected).pvalue > 1e-6


def test_scores_are_the_largest_error_in_whole_numbers():
    recorder = Recorder(1)
    mechanism = SmallDb(queries=INTERVALS, budget=Budget(1), method="enumerate", rows=2)
    released = run(mechanism, Cells(LINE, (3, 0, 5)), recorder)
    measured, chosen = recorder.calls
    assert (measured.kind, measured.sensitivity) == ("laplace", 1)
    assert measured.hidden == 8
    told = max(1, int(measured.answer))
    assert released.total == pytest.approx(told)
    for line, score in zip(choice.at(3, 2, np.arange(6)), chosen.hidden, strict=True):
        small = np.bincount(line, minlength=3)
        spans = [slice(i, j) for i in range(3) for j in range(i + 1, 4)]
        errors = [abs(2 * np.array((3, 0, 5))[span].sum() - told * small[span].sum()) for span in spans]
        assert score == -max(errors)


def test_the_exact_number_of_rows_stays_inside_the_score():
    recorder = Recorder(1)
    mechanism = SmallDbLinear(queries=INTERVALS, budget=Budget("0.05"), method="enumerate", rows=2)
    run(mechanism, Cells(LINE, (4, 0, 4)), recorder)
    measured, chosen = recorder.calls
    assert measured.answer != measured.hidden
    # One of the six databases has exactly the table's shares, whatever was measured.
    assert chosen.hidden.max() == 0


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: f"{unit.limit}-{unit.neighbours}")
@pytest.mark.parametrize("budget", [Budget(1), Budget(1, 1e-6)], ids=["pure", "approximate"])
def test_the_cost_is_what_is_asked_for_and_uses_the_budget(budget, unit):
    for mechanism, choices in ways(budget=budget):
        recorder = Recorder(0)
        run(mechanism, Cells(LINE, (3, 1, 2), unit), recorder)
        cost = mechanism.cost(LINE, unit)
        assert sorted(map(repr, cost.events)) == sorted(map(repr, recorder.cost().events))
        assert sum(isinstance(event, Selection) for event in cost.events) == choices
        kinds = {type(event) for event in cost.events} - {Selection}
        assert kinds == (set() if unit.public_rows else {Laplace if budget.pure else Gaussian})
        assert part_of(budget, cost) <= 1
        order, held = (None, capacity(budget)) if budget.pure else (mixed_order(budget), mixed_capacity(budget))
        assert held * (1 - 1e-5) < units(cost, order) <= held


def test_a_selection_with_a_delta_is_at_least_what_zero_concentrated_privacy_gives():
    budget = Budget(1, 1e-6)
    mechanism = SmallDb(queries=INTERVALS, budget=budget, method="enumerate", rows=2)
    (event,) = mechanism.cost(LINE, Unit.row("replace")).events
    assert event.epsilon**2 / 8 >= mixed_rho_for(budget) * (1 - Fraction(1, 10**5))


def test_columns_without_a_question_do_not_enlarge_the_choice():
    wide = Domain((Categories(name="a", values=tuple("pqrst")), Integers(name="x", low=0, high=2), Booleans(name="b")))
    mechanism = SmallDb(queries=INTERVALS, budget=Budget(1), rows=3)
    recorder = Recorder(0)
    cells = np.random.default_rng(0).integers(0, 5, wide.shape())
    released = run(mechanism, Cells(wide, cells), recorder)
    assert len(recorder.calls[-1].hidden) == 10
    assert released.codes.shape == (3, 3)
    assert (released.codes < wide.sizes).all()
    drawn = released.sample(50, np.random.default_rng(0))
    assert drawn.shape == (50, 3)


def test_huge_counts_are_clipped_to_exact_numbers():
    for kind in (SmallDb, SmallDbLinear):
        recorder = Recorder(0)
        mechanism = kind(queries=INTERVALS, budget=Budget(1), method="enumerate", rows=4)
        run(mechanism, Cells(LINE, (2**60, 2**60, 2**58)), recorder)
        scores = recorder.calls[-1].hidden
        assert (scores <= 0).all()
        assert scores.min() >= -(2**62)


def test_the_expected_error_is_that_of_the_choice_and_of_the_number_of_rows():
    public = SmallDb(queries=INTERVALS, budget=Budget(2), method="enumerate", rows=4)
    expected = public.expected(LINE, Unit.row("replace"))
    assert expected.worst == pytest.approx(2 * (np.log(15) + np.log(20)) / 2)
    assert expected.mean == pytest.approx(2 * (np.log(15) + 1) / 2)
    assert "4 rows, itself within 55.8 % of the table" in expected.sentence()
    assert public.expected(LINE, Unit.row()).worst > expected.worst
    assert "random databases" in Net(queries=INTERVALS, budget=Budget(1), net="random").expected(LINE, Unit.row()).about
    search = SmallDb(queries=INTERVALS, budget=Budget(1), method="search", rounds=10, proposals=99)
    assert search.expected(LINE, Unit.row("replace")).mean == pytest.approx(20 * (np.log(100) + 1))


def test_what_is_too_large_is_refused_with_its_size_and_a_better_choice():
    bits = Domain(tuple(Booleans(name=f"b{place}") for place in range(30)))
    pairs_of_bits = (Marginals(order=2),)
    unit = Unit.row()

    def refused(mechanism, domain=bits):
        with pytest.raises(Refused) as caught:
            mechanism.check(domain, unit)
        return str(caught.value)

    shared = {"queries": pairs_of_bits, "budget": Budget(1)}
    for mechanism in (SmallDb(**shared), SmallDbLinear(**shared), Net(**shared)):
        assert "1,073,741,824 combinations" in (text := refused(mechanism))
        assert "'tree'" in text
    assert "about 10^" in refused(SmallDb(**shared, method="enumerate", rows=4))
    assert "holds" in refused(SmallDb(**shared, method="net", members=10**6, rows=100))
    SmallDb(**shared, method="search").check(bits, unit)
    few = Domain(bits.attributes[:8])
    text = refused(SmallDb(**shared, method="enumerate", rows=10), few)
    assert f"{choice.multisets(256, 10):,}" in text or "about 10^" in text
    assert "'histogram'" in text
    huge = Domain(tuple(Integers(name=f"n{place}", low=0, high=999) for place in range(7)))
    assert "2^62" in refused(SmallDb(queries=(Marginals(order=1),), budget=Budget(1), method="search"), huge)
    assert "questions" in refused(SmallDb(queries=(Marginals(order=2),), budget=Budget(1)), huge)
    fine = (Linear(columns=("x",), weights=((1, 0, 0),), whole=2**28),)
    with pytest.raises(BadParameter, match="at most 4 rows"):
        SmallDb(queries=fine, budget=Budget(1), rows=5).check(LINE, unit)


def test_an_epsilon_too_small_for_its_delta_is_refused():
    with pytest.raises(BadParameter, match="epsilon"):
        SmallDb(queries=INTERVALS, budget=Budget(1e-12, 1e-300), rows=2).check(LINE, Unit.row("replace"))
