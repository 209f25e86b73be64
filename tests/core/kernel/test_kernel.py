"""What a mechanism cannot do with a kernel, tried; and what it gets."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from core import registry
from core.base.errors import BadParameter, OutOfBudget, Undeclared
from core.kernel.allowance import Allowance
from core.kernel.asked import Asked, AskedScores, Change
from core.kernel.compared import GRID, Gap
from core.kernel.kernel import Kernel
from core.kernel.measurement import NoiseLevel
from core.kernel.sparse_vector import AboveThreshold, NumericSparse
from core.kernel.tables import TOTAL, Blocks, Boxes, Marginal
from core.privacy.budget import Budget
from core.privacy.events import Cost, Gaussian, Laplace, Pure, Selection
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.schema.domain import Domain, Integers
from core.table.counts import Cells
from core.table.views import Recoding
from tests.core.kernel.kinds import BOTH, CLASSES, DOMAIN, EVEN
from tests.kernels import played
from tests.privacy.kit.recorder import Recorder
from tests.privacy.kit.sessions import Told, told_apart

ONE = Laplace(Fraction(1))
CORE = Path(__file__).parents[3] / "core"


LOW = -(2**50)
"""A threshold that every comparison exceeds."""


def kernel(*events, noise=None, unit=None, cells=(5, 0, 2, 1), left=None):
    return Kernel(Cells(DOMAIN, np.array(cells), unit or Unit.row()), noise or Noise(), left or Cost.of(events))


def sparse_vector(sensitivity=GRID, **options):
    return NumericSparse(
        run=AboveThreshold.of(Fraction(1), sensitivity=sensitivity, cutoff=options.get("cutoff", 1)),
        runs=options.get("runs", 1),
        number=ONE,
    )


class TestASensitivityThatIsTooSmall:
    def test_no_kind_of_question_is_made_outside_the_kernel(self):
        with pytest.raises(TypeError, match="written in the kernel"):

            class Cheap(Asked):
                def change(self, unit):
                    return Change(1, 1)

        with pytest.raises(TypeError, match="written in the kernel"):
            type("Favourite", (AskedScores,), {})

    def test_what_only_looks_like_a_question_is_refused(self):
        class Lookalike:
            columns = BOTH

            def counts(self, counts):
                return counts.marginal(BOTH) * 1000

            def change(self, unit):
                return Change(1, 1)

        spy = Recorder(0)
        with pytest.raises(TypeError, match="not the kernel's own"):
            kernel(ONE, noise=spy).measure(Lookalike(), ONE)
        assert not spy.calls

    def test_the_noise_is_scaled_by_what_the_question_says(self):
        spy = Recorder(0)
        held = kernel(ONE, Gaussian(Fraction(1, 2)), noise=spy, unit=Unit.id("who", 3, "replace"))
        held.measure(Marginal(BOTH), ONE)
        held.measure(EVEN, Gaussian(Fraction(1, 2)))
        assert [call.sensitivity for call in spy.calls] == [6, 3**2 * 4**2]

    def test_boxes_that_overlap_and_blocks_that_leave_gaps_are_refused(self):
        low, high = np.array([[0, 0], [0, 1]]), np.array([[1, 2], [2, 2]])
        with pytest.raises(BadParameter, match="overlap"):
            kernel(ONE).measure(Boxes(BOTH, low, high), ONE)
        with pytest.raises(BadParameter, match="begin at 0"):
            Blocks(("a",), (np.array([1]),))

    def test_many_boxes_that_overlap_are_refused_too(self):
        line = Domain((Integers(name="a", low=0, high=9),))
        held = Kernel(Cells(line, np.arange(10)), Noise(), Cost.of([ONE]))
        places = np.arange(10).reshape(-1, 1)
        assert held.measure(Boxes(("a",), places, places + 1), ONE).values.shape == (10,)
        with pytest.raises(BadParameter, match="overlap"):
            Kernel(Cells(line, np.arange(10)), Noise(), Cost.of([ONE])).measure(
                Boxes(("a",), np.maximum(places - 1, 0), places + 1), ONE
            )

    def test_a_sparse_vector_for_smaller_changes_is_refused(self):
        run = AboveThreshold.of(Fraction(1), sensitivity=GRID)
        sparse = NumericSparse(run=run, runs=1, number=ONE)
        held = kernel(Pure(1), unit=Unit.id("who", 2))
        with pytest.raises(BadParameter, match="sensitivity"):
            held.test(held.watch(sparse), Gap(EVEN, 0), 0)


class TestCountsReadOutsideTheKernel:
    def test_nothing_that_a_mechanism_can_name_gives_counts(self):
        held = kernel(ONE)
        names = [name for name in dir(held) if not name.startswith("_")]
        assert set(names) == {
            "choose",
            "choose_ends",
            "domain",
            "generator",
            "keys",
            "measure",
            "public_rows",
            "recoded",
            "test",
            "unit",
            "watch",
        }
        assert not hasattr(held, "__dict__")
        assert held.public_rows is None

    def test_a_number_of_rows_is_public_only_where_the_unit_says_so(self):
        class Talkative(Cells):
            public_rows = 8

        assert Kernel(Talkative(DOMAIN, np.array([5, 0, 2, 1])), Noise(), Cost(())).public_rows is None
        assert kernel(unit=Unit.row("replace")).public_rows == 8

    @pytest.mark.parametrize("room", ["mechanisms", "queries", "models", "theory"])
    def test_no_file_of_an_untrusted_room_imports_a_private_table_or_noise(self, room):
        forbidden = ("core.table.table", "core.table.source", "core.table.encoded", "core.privacy.noise", "_Kernel__")
        for path in (CORE / room).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            assert not any(name in text for name in forbidden), path
            if room == "mechanisms":
                assert "import Counts" not in text and ", Counts" not in text, path


class TestASpendThatWasNotDeclared:
    def test_an_event_is_taken_once(self):
        held = kernel(ONE)
        held.measure(TOTAL, ONE)
        with pytest.raises(Undeclared):
            held.measure(TOTAL, ONE)

    @pytest.mark.parametrize("event", [Laplace(Fraction(11, 10)), Gaussian(Fraction(1, 100))])
    def test_another_event_is_refused_before_anything_is_looked_at(self, event):
        spy = Recorder(0)
        with pytest.raises(Undeclared):
            kernel(ONE, noise=spy).measure(TOTAL, event)
        assert not spy.calls

    def test_parts_of_a_pure_event_and_of_gaussian_noise_add_up(self):
        held = kernel(Pure(1), Gaussian(Fraction(1, 2)))
        half, quarter = Laplace(Fraction(1, 2)), Gaussian(Fraction(1, 4))
        for _ in range(2):
            held.measure(TOTAL, half)
            held.measure(TOTAL, quarter)
        for event in (Laplace(Fraction(1, 10**9)), Gaussian(Fraction(1, 10**9))):
            with pytest.raises(Undeclared):
                held.measure(TOTAL, event)

    def test_a_choice_is_paid_for(self):
        from core.kernel.scores import Errors

        asked = Errors(CLASSES, DOMAIN, np.zeros(8, dtype=np.int64))
        held = kernel(Selection(1))
        assert 0 <= held.choose(asked, Selection(1)) < 8
        with pytest.raises(Undeclared):
            held.choose(asked, Selection(1))

    def test_every_run_of_a_sparse_vector_is_paid_for(self):
        run = AboveThreshold.of(Fraction(1), sensitivity=GRID)
        sparse = NumericSparse(run=run, runs=3, number=ONE)
        held = kernel(Pure(1), Pure(1))
        watch = held.watch(sparse)
        watch, above = held.test(watch, Gap(EVEN, 0), LOW)
        assert above and watch.left == 2
        with pytest.raises(Undeclared):
            held.test(watch, Gap(EVEN, 0), LOW)
        with pytest.raises(OutOfBudget):
            held.test(watch, Gap(EVEN, 0), LOW)

    def test_a_view_spends_from_the_same_reservation(self):
        held = kernel(ONE)
        coarse = Domain((Integers(name="any", low=0, high=0),))
        view = held.recoded(coarse, {"any": Recoding("a", np.zeros(2, dtype=np.int64))})
        view.measure(Marginal(("any",)), ONE)
        with pytest.raises(Undeclared):
            held.measure(TOTAL, ONE)

    def test_what_is_left_survives_being_written_down(self):
        left = Allowance(Cost.of([Pure(1), ONE, Selection(2), Gaussian(Fraction(1, 2))]))
        kernel(left=left).measure(TOTAL, ONE)
        again = Allowance.from_json(left.to_json())
        assert again.to_json() == left.to_json()
        with pytest.raises(Undeclared):
            again.take(Laplace(2))
        again.take(Selection(2))


class TestComparisons:
    def test_a_forged_handle_is_refused_before_anything_is_looked_at(self):
        spy = Recorder(0)
        held = kernel(Pure(1), noise=spy)
        watch, drawn = held.watch(sparse_vector()), len(spy.calls)
        for id in (-1, 1, 10**9):
            with pytest.raises(Undeclared):
                held.test(replace(watch, id=id), Gap(EVEN, 0), 0)
        assert len(spy.calls) == drawn

    def test_what_a_handle_says_is_left_is_not_believed(self):
        held = kernel(Pure(1))
        first = held.watch(sparse_vector(cutoff=2))
        assert first.left == 2
        for left in (1, 0):
            # The first handle again, and one that claims more: the kernel has its own count.
            watch, above = held.test(replace(first, left=99), Gap(EVEN, 0), LOW)
            assert above and watch.left == left

    def test_a_run_that_is_used_up_is_refused(self):
        spy = Recorder(0)
        held = kernel(Pure(1), noise=spy)
        watch, above = held.test(first := held.watch(sparse_vector()), Gap(EVEN, 0), LOW)
        assert above and watch.left == 0
        drawn = len(spy.calls)
        for handle in (watch, first):
            with pytest.raises(OutOfBudget, match="nothing was compared"):
                held.test(handle, Gap(EVEN, 0), LOW)
        assert len(spy.calls) == drawn

    def test_a_handle_of_another_kernel_opens_nothing(self):
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

    def test_a_sparse_vector_is_the_kernels_own(self):
        with pytest.raises(TypeError, match="written in the kernel"):

            class Loud(AboveThreshold):
                def offset(self, noise):
                    return 0

        class Lookalike:
            epsilon, sensitivity, cutoff = Fraction(1), GRID, 1

            def offset(self, noise):
                return 0

        held = kernel(Pure(1))
        for forged in (replace(sparse_vector(), run=Lookalike()), Lookalike()):
            with pytest.raises(TypeError, match="not the kernel's own"):
                held.watch(forged)
        assert held.watch(sparse_vector()).left == 1, "what was refused took nothing"

    def test_a_run_goes_on_where_it_stopped_after_being_written_down(self):
        left = Allowance(Cost.of([Pure(1)]))
        watch = kernel(left=left).watch(sparse_vector(cutoff=3))
        watch, _ = kernel(left=left).test(watch, Gap(EVEN, 0), LOW)
        kept = json.dumps(left.to_json())
        for _ in range(2):
            again = Allowance.from_json(json.loads(kept))
            assert again.to_json() == left.to_json()
            assert again.run(watch) == left.run(watch) and again.run(watch) is not left.run(watch)
            after, above = kernel(left=again).test(watch, Gap(EVEN, 0), LOW)
            assert above and after.left == 1 and left.run(watch).left == 2

    @pytest.mark.parametrize("name", ["online-weights", "median-basic"])
    def test_the_offset_is_kept_by_the_kernel_and_not_by_the_mechanism(self, name):
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


class TestTheNoiseLevel:
    @pytest.mark.parametrize("event", [Laplace(Fraction(1, 3)), Laplace(Fraction(5)), Gaussian(Fraction(1, 50))])
    @pytest.mark.parametrize("probability", [0.5, 0.05, 0.001])
    def test_tails_come_true_and_are_tight(self, event, probability):
        level = NoiseLevel.of(TOTAL, event, Unit.id("who", 2))
        many = 400_000
        held = kernel(event, unit=Unit.id("who", 2))
        shape = Domain((Integers(name="a", low=0, high=many - 1),))
        held = Kernel(Cells(shape, np.zeros(many, dtype=np.int64), Unit.id("who", 2)), Noise(), Cost.of([event]))
        drawn = np.abs(held.measure(Marginal(("a",)), event).values)
        seen = float((drawn > level.tail(probability)).mean())
        error = 5 * (probability / many) ** 0.5
        assert seen <= probability + error
        assert level.tail(probability) == 0 or float((drawn >= level.tail(probability)).mean()) >= probability - error
        assert float(drawn.mean()) <= level.mean_error * 1.02
        assert float(drawn.astype(float).std()) <= level.sigma * 1.02
