"""Sparse vector is as private as it says; the broken variants that were published are in `tests/privacy`."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from core.base.errors import BadParameter, OutOfBudget, Undeclared
from core.kernel.compared import GRID, on_grid
from core.kernel.sparse_vector import WIDEST, AboveThreshold, NumericSparse, OpenRun
from core.mechanisms.kit.comparing import misses
from core.privacy.accounting import units
from core.privacy.events import Cost, Gaussian, Laplace, Pure
from core.privacy.noise import Noise
from tests.core.mechanisms.transcripts import Forced, Transcripts, stated, worst

NUMBER = Laplace(Fraction(1, 10))


def machine(epsilon=Fraction(1), cutoff=1, runs=1, sensitivity=1) -> NumericSparse:
    run = AboveThreshold.of(Fraction(epsilon), sensitivity=sensitivity, cutoff=cutoff)
    return NumericSparse(run=run, runs=runs, number=NUMBER)


def short(sensitivity=1):
    """Every sequence of up to four outcomes, some values near the threshold, all neighbours at the full sensitivity."""
    for length in range(1, 5):
        for values in ((0,) * 4, (2, -1, 0, 3)):
            for moved in product((-sensitivity, 0, sensitivity), repeat=length):
                other = tuple(value + move for value, move in zip(values, moved, strict=False))
                for outcomes in product((True, False), repeat=length):
                    yield values[:length], other, outcomes


def long(cutoff: int, sensitivity=1):
    """Many values below that rise and then some above that fall: the sequence on which the proof is tight."""
    for below, above in product((0, 1, 5, 20, 200), range(1, 4 * cutoff + 1)):
        for start, step in product((-40, 0, 40), (1, 5)):
            for shift in (sensitivity, -sensitivity):
                values = (start,) * below + (start + step,) * above
                other = (start + shift,) * below + (start + step - shift,) * above
                yield values, other, (False,) * below + (True,) * above


@pytest.mark.crossing(keep=1)
@pytest.mark.parametrize("epsilon", [Fraction(1, 4), 2])
@pytest.mark.parametrize(("cutoff", "runs"), [(1, 1), (2, 1), (3, 1), (1, 2), (1, 3), (2, 2)])
def test_every_sequence_of_answers_is_private(epsilon, cutoff, runs):
    proven = machine(epsilon, cutoff, runs)
    assert worst(proven, short()) <= stated(proven) + 1e-9


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=2)
@pytest.mark.parametrize("cutoff", [1, 2, 4])
@pytest.mark.parametrize("sensitivity", [1, 3])
def test_long_sequences_come_close_to_what_is_stated_and_not_above(cutoff, sensitivity):
    proven = machine(1, cutoff, sensitivity=sensitivity)
    loss = worst(proven, long(cutoff, sensitivity))
    assert 0.97 * stated(proven) <= loss <= stated(proven) + 1e-9


def test_probabilities_add_up():
    seen = Transcripts(machine(1, 2))
    every = [seen.log((0, 1, 2), outcomes) for outcomes in product((True, False), repeat=3)]
    # After two above the machine stops: those sequences are counted once for each continuation.
    assert np.exp(every).sum() == pytest.approx(1 + np.exp(seen.log((0, 1), (True, True))), abs=1e-9)


def test_the_split_minimises_the_noise():
    def variance(run: AboveThreshold) -> float:
        return sum(scale**2 for scale in run.scales)

    for cutoff in (1, 5, 100):
        best = AboveThreshold.of(Fraction(1), sensitivity=1, cutoff=cutoff)
        assert best.epsilon == 1
        for nudge in (Fraction(99, 100), Fraction(101, 100)):
            moved = best.threshold_epsilon * nudge
            other = replace(best, threshold_epsilon=moved, comparing_epsilon=1 - moved)
            assert variance(other) > variance(best)


def test_counts_down_and_renews_the_offset_between_runs():
    class Loud:
        def __init__(self) -> None:
            self.drawn = 0

        def laplace(self, values, *, epsilon, sensitivity):
            self.drawn += 1
            return values + self.drawn

    plan, noise, paid = machine(1, cutoff=2, runs=2), Loud(), []
    run = plan.start(noise, paid.append)
    assert (run.left, plan.most, run.offset) == (4, 4, 1)
    offsets = []
    for _ in range(4):
        assert run.test(100, 0, noise, paid.append)
        offsets.append(run.offset)
    assert offsets == [1, 4, 4, None]
    assert paid == [Pure(plan.run.epsilon)] * 2, "each run is paid when its offset is drawn"
    drawn = noise.drawn
    with pytest.raises(OutOfBudget, match="no measurement left"):
        run.test(100, 0, noise, paid.append)
    assert noise.drawn == drawn, "nothing is drawn for a comparison that is refused"
    below = OpenRun(run=plan.run, offset=3, left=2)
    assert below.test(-100, 0, noise, paid.append) is False
    assert below == OpenRun(run=plan.run, offset=3, left=2)
    assert len(paid) == 2


def test_a_run_is_over_even_if_the_next_one_is_refused():
    """Otherwise whoever catches the refusal could go on with an offset that has said enough."""

    def broke(event):
        raise Undeclared()

    run, noise = OpenRun(run=machine().run, offset=0, left=2), Forced(5, 5)
    with pytest.raises(Undeclared):
        run.test(100, 0, noise, broke)
    with pytest.raises(OutOfBudget):
        run.test(100, 0, noise, broke)
    assert run == OpenRun(run=machine().run, offset=None, left=1) and len(noise.scales) == 1


def test_cost_is_that_of_everything_that_can_happen():
    plan = machine(Fraction(1, 2), cutoff=2, runs=3)
    assert plan.cost == Cost((Pure(Fraction(1, 2)),) * 3 + (NUMBER,) * 6)
    gaussian = replace(plan, number=Gaussian(Fraction(1, 7)))
    apart = Cost((Pure(Fraction(1, 2)),) * 3 + (gaussian.number,) * 6)
    for order in (Fraction(3, 2), Fraction(30)):
        assert units(gaussian.cost, order) == units(apart, order)


@pytest.mark.exhaustive
def test_real_noise_decides_as_often_as_it_should():
    run, hits = AboveThreshold.of(Fraction(1), sensitivity=1), 0
    for _ in range(3_000):
        hits += run.above(4, 0, run.offset(Noise()), Noise())
    expected = 1 - misses(run, 4)
    assert hits / 3_000 == pytest.approx(expected, abs=0.05)


def test_the_grid_keeps_changes_within_their_bound():
    generator = np.random.default_rng(3)
    for denominator in (1, 2**10, 2**16, 2**30):
        totals = generator.integers(0, 10**6 * denominator, 200)
        for moved in generator.integers(-3 * denominator, 3 * denominator + 1, 5):
            change = [abs(on_grid(t + moved, denominator) - on_grid(t, denominator)) for t in totals.tolist()]
            assert max(change) <= 3 * GRID
    assert on_grid(7, 1) == 7 * GRID and on_grid(3, 2) == 3 * GRID // 2


@pytest.mark.parametrize("number", [NUMBER, Gaussian(Fraction(1, 7))])
def test_survives_json(number):
    plan = replace(machine(Fraction(1, 3), cutoff=2, runs=3, sensitivity=GRID), number=number)
    assert NumericSparse.from_json(plan.to_json()) == plan
    for offset in (-(2**70), None):
        under_way = OpenRun(run=plan.run, offset=offset, left=5)
        assert OpenRun.from_json(json.loads(json.dumps(under_way.to_json()))) == under_way


def test_refuses_nonsense():
    with pytest.raises(BadParameter):
        AboveThreshold.of(Fraction(0), sensitivity=1)
    with pytest.raises(BadParameter):
        AboveThreshold.of(Fraction(1), sensitivity=1, cutoff=0)
    for bad in ({"cutoff": 1.5}, {"sensitivity": 0}, {"sensitivity": True}):
        with pytest.raises(BadParameter, match=next(iter(bad))):
            replace(machine().run, **bad)
    for runs in (0, 2.5):
        with pytest.raises(BadParameter, match="runs"):
            machine(runs=runs)


def test_a_run_by_hand():
    """A cutoff of 4 splits 1 : 8^(2/3) = 1 : 4."""
    run = AboveThreshold.of(Fraction(1), sensitivity=3, cutoff=4)
    assert (run.threshold_epsilon, run.comparing_epsilon) == (Fraction(1, 5), Fraction(4, 5))
    assert run.scales == (15.0, 30.0)
    third = AboveThreshold.of(Fraction(1), sensitivity=1).comparing_epsilon
    assert third / (1 - third) == Fraction(2 ** (2 / 3)).limit_denominator(10_000)


def test_what_is_drawn_for_a_comparison():
    class Asked:
        def __init__(self):
            self.calls = []

        def laplace(self, values, *, epsilon, sensitivity):
            self.calls.append((values.tolist(), epsilon, sensitivity))
            return values

    run, noise = AboveThreshold.of(Fraction(1), sensitivity=3, cutoff=4), Asked()
    assert run.offset(noise) == 0
    assert [run.above(value, 5, 2, noise) for value in (6, 7, 8)] == [False, True, True]
    assert noise.calls == [([0], Fraction(1, 5), 3), *(([value], Fraction(1, 10), 3) for value in (6, 7, 8))]


def test_bounds_of_a_run():
    widest = AboveThreshold(
        threshold_epsilon=Fraction(1, 2**50), comparing_epsilon=Fraction(1, 2**49), sensitivity=1, cutoff=1
    )
    assert widest.scales == (WIDEST, WIDEST) and WIDEST == 2.0**50
    for part in ("threshold_epsilon", "comparing_epsilon"):
        for wrong in (getattr(widest, part) * Fraction(99, 100), Fraction(0), Fraction(-1)):
            with pytest.raises(BadParameter, match="epsilon"):
                replace(widest, **{part: wrong})
    for name in ("cutoff", "sensitivity"):
        for wrong in (0, -1, 1.0, True):
            with pytest.raises(BadParameter, match=name):
                replace(machine().run, **{name: wrong})
    with pytest.raises(BadParameter, match="runs"):
        replace(machine(), runs=0)


def test_a_run_ends_after_one_unless_it_says_otherwise():
    half = Fraction(1, 2)
    assert AboveThreshold(threshold_epsilon=half, comparing_epsilon=half, sensitivity=1).cutoff == 1
    assert AboveThreshold.of(half, sensitivity=1).cutoff == 1
