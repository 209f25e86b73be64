"""Stretches that hide rows in few of their cells: how they are cut, when that is asked, and what it is good for."""

from fractions import Fraction

import numpy as np
import pytest

from core.kernel.kernel import Kernel
from core.mechanisms.ranges import stages, uneven
from core.mechanisms.ranges.interval_tree import IntervalTree
from core.mechanisms.ranges.uneven import PARTS, SHARES, Cut, cut_uneven, part_of
from core.planning.simulation.simulated_noise import SimulatedNoise
from core.privacy.budget import Budget
from core.privacy.events import Cost, Gaussian, Laplace, Pure
from core.privacy.unit import Unit
from core.queries.intervals import Intervals
from core.schema.domain import Domain, Integers
from core.table.counts import Cells
from tests.core.mechanisms.ranges.test_stages import mean_error
from tests.core.mechanisms.replay import BUDGETS, UNITS, check_private


def domain_of(size):
    return Domain((Integers(name="x", low=0, high=size - 1),))


def test_parts_nest_in_stretches_and_are_about_equally_wide():
    cut = Cut(("x",), np.array([0, 1, 4, 20, 120]), 1_144)
    assert set(cut.starts.tolist()) < set(cut.parts.tolist())
    inside = np.split(np.append(cut.parts, 1_144), np.searchsorted(cut.parts, cut.starts[1:]))
    assert [len(each) for each in inside[:-1]] == [1, 3, 16, PARTS]
    assert np.ptp(np.diff(inside[3])) <= 1
    asked = cut.asked
    ((begins,), (firsts,)) = asked.begins, asked.firsts
    assert begins[firsts].tolist() == cut.starts.tolist()
    assert asked.weights.max() == 16 and asked.weights.min() == 1


@pytest.mark.parametrize("event", [Laplace(Fraction(1, 3)), Gaussian(Fraction(1, 3))])
def test_shares_add_up(event):
    amounts = [
        each.epsilon if isinstance(each, Laplace) else each.rho
        for each in (part_of(event, SHARES[0]), part_of(event, 1 - SHARES[0]))
    ]
    assert sum(amounts) == Fraction(1, 3)


def found(truth, starts, event, sigma):
    counts = Cells(domain_of(len(truth)), truth, Unit.row("replace"))
    reserved = Pure(event.epsilon) if isinstance(event, Laplace) else event
    kernel = Kernel(counts, SimulatedNoise(np.random.default_rng(0)), Cost((reserved,)))
    return cut_uneven(kernel, Cut(("x",), starts, len(truth)), event, sigma)


@pytest.mark.parametrize("event", [Laplace(Fraction(1)), Gaussian(Fraction(1, 8))])
def test_only_uneven_stretches_are_cut(event):
    starts = np.arange(0, 2**12, 32)
    even = np.full(2**12, 4, dtype=np.int64)
    teeth = np.zeros(2**12, dtype=np.int64)
    teeth[7::32] = 128
    kept, left = found(even, starts, event, 8.0)
    assert kept.tolist() == starts.tolist() and left == part_of(event, 1 - SHARES[0])
    cut, left = found(teeth, starts, event, 8.0)
    assert cut.tolist() == np.arange(0, 2**12, 2).tolist() and left == part_of(event, 1 - SHARES[0])


def test_nothing_is_asked_where_the_answer_would_be_noise():
    starts, event = np.arange(0, 2**12, 1_024), Laplace(Fraction(1))
    kept, left = found(np.full(2**12, 4, dtype=np.int64), starts, event, 4.0)
    assert kept.tolist() == starts.tolist() and left == event


@pytest.mark.crossing(keep=2)
@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("unit", UNITS)
def test_privacy(budget, unit, monkeypatch):
    monkeypatch.setattr(stages, "SMALLEST", {1: 16, 2: 30, 3: 30})
    monkeypatch.setattr(uneven, "EXACT", 1e9)
    for uneven_from in (-1e9, 1e9):
        monkeypatch.setattr(uneven, "UNEVEN", uneven_from)
        check_private(IntervalTree(queries=(Intervals(column="x"),), budget=budget), domain_of(60), unit, monkeypatch)


@pytest.mark.exhaustive
def test_rows_that_hide_in_single_cells(monkeypatch):
    truth = np.zeros(2**14, dtype=np.int64)
    truth[11::64] = 80
    tree, generator = IntervalTree(queries=(Intervals(column="x"),), budget=Budget(1)), np.random.default_rng(3)

    def error():
        return np.mean([mean_error(tree, truth, ("x",), Unit.row(), generator) for _ in range(6)])

    with_test = error()
    monkeypatch.setattr(uneven, "UNEVEN", 1e9)
    # About half.
    assert with_test < 0.75 * error()
