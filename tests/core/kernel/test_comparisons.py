"""Comparisons under way: paid, counted and kept by the kernel, whatever a handle says and however many threads ask."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from threading import Barrier, BrokenBarrierError

import numpy as np
import pytest

from core import registry
from core.base.errors import BadParameter, OutOfBudget, Undeclared
from core.kernel.allowance import Allowance
from core.kernel.compared import GRID, Gap
from core.kernel.sparse_vector import AboveThreshold
from core.privacy.budget import Budget
from core.privacy.events import Cost, Pure
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.table.counts import Cells
from tests.core.kernel.four_cells import LOW, kernel, sparse_vector
from tests.core.kernel.kinds import DOMAIN, EVEN
from tests.kernels import played
from tests.privacy.kit.recorder import Recorder
from tests.privacy.kit.sessions import Told, told_apart


def test_a_forged_handle_is_refused_before_anything_is_looked_at():
    spy = Recorder(0)
    held = kernel(Pure(1), noise=spy)
    watch, drawn = held.watch(sparse_vector()), len(spy.calls)
    for id in (-1, 1, 10**9):
        with pytest.raises(Undeclared):
            held.test(replace(watch, id=id), Gap(EVEN, 0), 0)
    assert len(spy.calls) == drawn


def test_what_a_handle_says_is_left_is_not_believed():
    held = kernel(Pure(1))
    first = held.watch(sparse_vector(cutoff=2))
    assert first.left == 2
    for left in (1, 0):
        # The first handle again, and one that claims more: the kernel has its own count.
        watch, above = held.test(replace(first, left=99), Gap(EVEN, 0), LOW)
        assert above and watch.left == left


def test_a_run_that_is_used_up_is_refused():
    spy = Recorder(0)
    held = kernel(Pure(1), noise=spy)
    watch, above = held.test(first := held.watch(sparse_vector()), Gap(EVEN, 0), LOW)
    assert above and watch.left == 0
    drawn = len(spy.calls)
    for handle in (watch, first):
        with pytest.raises(OutOfBudget, match="nothing was compared"):
            held.test(handle, Gap(EVEN, 0), LOW)
    assert len(spy.calls) == drawn


def test_a_handle_of_another_kernel_opens_nothing():
    other = kernel(Pure(1), Pure(1)).watch(sparse_vector(runs=2))
    with pytest.raises(Undeclared):
        kernel(Pure(1)).test(other, Gap(EVEN, 0), 0)
    # Where it happens to name a run, it is that kernel's own: its count and its bound, nothing of the other's.
    mine = kernel(Pure(1))
    mine.watch(sparse_vector())
    watch, above = mine.test(other, Gap(EVEN, 0), LOW)
    assert above and watch.left == 0
    small = kernel(Pure(1), unit=Unit.id("who", 2))
    small.watch(sparse_vector())
    with pytest.raises(BadParameter, match="sensitivity"):
        small.test(other, Gap(EVEN, 0), 0)


def test_a_sparse_vector_is_the_kernels_own():
    with pytest.raises(TypeError, match="written in the kernel"):

        class Loud(AboveThreshold):
            def offset(noise):
                return 0

    class Lookalike:
        epsilon, sensitivity, cutoff = Fraction(1), GRID, 1

        def offset(noise):
            return 0

    held = kernel(Pure(1))
    for forged in (replace(sparse_vector(), run=Lookalike()), Lookalike()):
        with pytest.raises(TypeError, match="not the kernel's own"):
            held.watch(forged)
    assert held.watch(sparse_vector()).left == 1, "what was refused took nothing"


def test_a_run_goes_on_where_it_stopped_after_being_written_down():
    left = Allowance(Cost.of([Pure(1)]))
    watch = kernel(left=left).watch(sparse_vector(cutoff=3))
    watch, _ = kernel(left=left).test(watch, Gap(EVEN, 0), LOW)
    kept = json.dumps(left.to_json())
    for _ in range(2):
        again = Allowance.from_json(json.loads(kept))
        assert again.to_json() == left.to_json()
        after, above = kernel(left=again).test(watch, Gap(EVEN, 0), LOW)
        assert above and after.left == 1 and json.dumps(left.to_json()) == kept


@pytest.mark.parametrize("name", ["online-weights", "median-basic"])
def test_the_offset_is_kept_by_the_kernel_and_not_by_the_mechanism(name):
    """Two sessions with different offsets and the same outcomes: what the mechanism saves is the same."""
    mechanism = registry.interactive_from(name, Budget(1), {"alpha": 0.4, "questions": 12, "rows": 3_000})
    counts, saved, offsets = Cells(DOMAIN, np.array([900, 100, 800, 200])), [], []
    for offset in (7_654_321, -1_234_567):
        noise = Told([True, False, True], 3, offset=offset)
        with told_apart():
            session, _ = played(mechanism, counts, [EVEN] * 3, noise)
        saved.append(mechanism.save(session.state))
        offsets.append(session.left["runs"][0]["offset"])
        assert str(abs(offset)).encode() not in saved[-1]
        assert offset.to_bytes(8, "little", signed=True) not in saved[-1]
    assert saved[0] == saved[1]
    assert offsets == [7_654_321, -1_234_567]


class Meeting(Noise):
    """Noise that holds a thread back until another has come as far, or half a second has gone by."""

    def __init__(self):
        super().__init__()
        self.met, self.meets = Barrier(2), False

    def laplace(self, *args, **options):
        if self.meets:
            try:
                self.met.wait(timeout=0.5)
            except BrokenBarrierError:
                self.met.reset()
        return super().laplace(*args, **options)


@pytest.mark.parametrize(("runs", "above"), [(1, 1), (2, 2)])
def test_threads_cannot_end_one_run_twice(runs, above):
    """Two comparisons that come out above at the same offset would need two payments."""
    noise, left = Meeting(), Allowance(Cost.of([Pure(1)] * runs))
    held = kernel(noise=noise, left=left)
    watch = held.watch(sparse_vector(runs=runs))
    noise.meets = True

    def compare(_):
        try:
            return held.test(watch, Gap(EVEN, 0), LOW)[1]
        except OutOfBudget:
            return False

    with ThreadPoolExecutor(2) as pool:
        assert sum(pool.map(compare, range(2))) == above
    assert left.to_json()["pools"] == [] and left.to_json()["runs"][0]["left"] == 0
