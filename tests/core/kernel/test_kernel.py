"""What a mechanism cannot do with a kernel, tried; and what it gets."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from core.base.errors import BadParameter, OutOfBudget, Undeclared
from core.kernel import halfspaces
from core.kernel.allowance import Allowance
from core.kernel.asked import Asked, AskedScores, Change
from core.kernel.compared import GRID, Gap, Loss
from core.kernel.decisions.cuts import AllCuts, Edges
from core.kernel.kernel import Kernel
from core.kernel.noise_level import NoiseLevel
from core.kernel.query import Query, Statistic
from core.kernel.scores import DatabaseErrors, Errors, PrefixErrors, SignedErrors
from core.kernel.sparse_vector import AboveThreshold, NumericSparse
from core.kernel.tables import TOTAL, Blocks, Boxes, Distances, Marginal
from core.privacy.cube import deviation
from core.privacy.events import Cost, Gaussian, Laplace, Pure, Selection
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.queries.lipschitz import Lipschitz
from core.schema.domain import Categories, Domain, Integers
from core.table.counts import Cells
from core.table.views import Recoding
from tests.core.kernel.four_cells import LOW, ONE, kernel
from tests.core.kernel.kinds import BOTH, CLASSES, DOMAIN, EVEN
from tests.privacy.kit.recorder import Recorder

DISTANCES = Distances((("a",), BOTH), (np.array([2, 1]), np.array([[1, 0], [0, 3]])))
CORE = Path(__file__).parents[3] / "core"


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

    def test_noise_for_all_numbers_together_is_scaled_by_the_change_of_one(self):
        spy = Recorder(0)
        held = kernel(Pure(1), noise=spy, unit=Unit.id("who", 3, "replace"))
        found = held.measure_together(DISTANCES, Pure(Fraction(1, 2)))
        (call,) = spy.calls
        assert (call.kind, call.amount, call.sensitivity) == ("cube", Fraction(1, 2), 6)
        assert call.hidden.tolist() == [3 + 2, 4 + 0 + 2 + 2] and found.values.tolist() == call.answer.tolist()
        assert found.sigma == deviation(2, 12.0) and found.asked is DISTANCES

    def test_only_what_moves_number_by_number_is_measured_together(self):
        spy = Recorder(0)
        held = kernel(Pure(1), ONE, noise=spy)
        with pytest.raises(TypeError, match="not the kernel's own"):
            held.measure_together(Marginal(BOTH), Pure(1))
        with pytest.raises(TypeError, match="event"):
            held.measure_together(DISTANCES, ONE)
        with pytest.raises(TypeError, match="event"):
            held.measure(DISTANCES, Pure(1))
        with pytest.raises(Undeclared):
            held.measure_together(DISTANCES, Pure(2))
        assert not spy.calls
        held.measure_together(DISTANCES, Pure(1))
        with pytest.raises(Undeclared):
            held.measure_together(DISTANCES, Pure(Fraction(1, 10**9)))

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
            "choose_database",
            "choose_ends",
            "choose_in_turn",
            "domain",
            "expect",
            "generator",
            "halve",
            "keys",
            "measure",
            "measure_together",
            "order",
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
        forbidden = ("core.table.table", "core.table.source", "core.table.counting", "core.privacy.noise", "_Kernel__")
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

    @pytest.mark.parametrize(("threshold", "above"), [(LOW, True), (-(10**30), True), (2**50, False), (10**30, False)])
    def test_a_number_is_compared_with_the_threshold_that_is_asked(self, threshold, above):
        held = kernel(Pure(1))
        watch = held.watch(NumericSparse(run=AboveThreshold.of(Fraction(1), sensitivity=GRID), runs=1, number=ONE))
        assert held.test(watch, Gap(EVEN, 0), threshold)[1] is above

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


class TestWhatAMechanismHandsOver:
    """Tricks by which something not covered by the reservation could be read off; each is refused or does nothing."""

    def test_a_class_that_is_not_registered_never_sees_the_counts(self):
        class Spy:
            columns = BOTH
            seen = None

            def denominator(self, domain):
                return 1

            def totals(self, source):
                self.seen = source.marginal(BOTH)
                return self.seen.ravel()

        spy, zeros = Spy(), np.zeros(4, dtype=np.int64)
        for make in (
            lambda: Errors((spy,), DOMAIN, zeros),
            lambda: SignedErrors((spy,), DOMAIN, zeros),
            lambda: Statistic(spy, 0, 1),
            lambda: DatabaseErrors((spy,), DOMAIN, 1, 1, lambda: iter(()), None),
        ):
            with pytest.raises(TypeError, match="registered"):
                make()
        assert spy.seen is None

    def test_a_statistic_has_the_denominator_of_its_class(self):
        finer = Lipschitz(columns=BOTH, statistics=(("distance", (256, 256, 256, 256)),))
        with pytest.raises(BadParameter, match="denominator"):
            kernel(ONE).measure(Statistic(finer, 0, 1), ONE)

    def test_only_sums_are_compared_with_an_exact_number_of_rows(self):
        with pytest.raises(BadParameter, match="sums"):
            DatabaseErrors((Lipschitz(columns=BOTH),), DOMAIN, 1, 1, lambda: iter(()), None)

    @pytest.mark.parametrize(("guess", "sign"), [(0, 1000), (0.5, 0), (np.int64(3), 0)])
    def test_a_gap_has_a_whole_guess_and_a_sign(self, guess, sign):
        with pytest.raises(BadParameter, match="guess"):
            Gap(EVEN, guess, sign)

    @pytest.mark.parametrize("guess", [2**63, -(2**63), 10**30, -(10**30)])
    def test_a_far_guess_raises_nothing_that_tells_a_count(self, guess):
        run = AboveThreshold.of(Fraction(1), sensitivity=GRID)
        for cells in ((5, 0, 2, 1), (0, 0, 0, 0)):
            held = kernel(Pure(1), cells=cells)
            watch = held.watch(NumericSparse(run=run, runs=1, number=ONE))
            assert held.test(watch, Gap(EVEN, guess), 10**40)[1] in (True, False)

    def test_constants_normals_and_members_are_bounded(self):
        space = halfspaces.Space(BOTH, (np.array([-1, 1]), np.array([-1, 1])), lifted=False)
        with pytest.raises(BadParameter, match="constant"):
            halfspaces.Moments(space, 2**22, True)
        with pytest.raises(BadParameter, match="normals"):
            halfspaces.Balances(space, np.array([[2**40, 1]]))
        for wrong in (np.nan, np.inf):
            with pytest.raises(BadParameter, match="members"):
                Loss(EVEN, np.array([1.0, wrong]), GRID)

    def test_numbers_that_are_not_whole_are_refused(self):
        asked = Errors(CLASSES, DOMAIN, np.full(8, np.nan))
        with pytest.raises(BadParameter, match="whole"):
            kernel(Selection(1)).choose(asked, Selection(1))
        with pytest.raises(BadParameter, match="whole"):
            Distances((BOTH,), (np.full((2, 2), np.nan),))

    def test_an_event_of_ones_own_is_refused(self):
        class Refund:
            epsilon = Fraction(-5)

        held = kernel(Pure(1))
        with pytest.raises(TypeError, match="event"):
            held.measure(TOTAL, Refund())
        with pytest.raises(Undeclared):
            held.measure(TOTAL, Laplace(2))

    def test_what_was_checked_cannot_be_changed_afterwards(self):
        weights = np.ones((2, 2), dtype=np.int64)
        asked = Query(columns=BOTH, weights=weights)
        weights[0, 0] = 1000
        assert asked.weights.max() == 1
        with pytest.raises(ValueError, match="read-only"):
            asked.weights[0, 0] = 1000
        blocks = Blocks(("a",), (np.array([0, 1]),))
        with pytest.raises(ValueError, match="read-only"):
            blocks.starts[0][1] = 0

    def test_a_kernel_cannot_be_copied(self):
        held = kernel(ONE)
        for copied in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match="once more"):
                copied(held)


class TestChoices:
    @pytest.mark.parametrize(("neighbours", "asked_for"), [("add-remove", ("within", 3)), ("replace", ("any", 3))])
    def test_scores_that_move_in_one_direction_are_told_apart_by_their_span(self, neighbours, asked_for):
        seen = []

        class Spy(Noise):
            def select_within(self, scores, *, epsilon, span):
                seen.append(("within", span))
                return 0

            def select(self, scores, *, epsilon, sensitivity):
                seen.append(("any", sensitivity))
                return 0

        domain = Domain((Categories(name="from", values=("p", "q")), Categories(name="to", values=("p", "q"))))
        counts = Cells(domain, np.ones((2, 2), dtype=np.int64), Unit.id("who", 3, neighbours))
        held = Kernel(counts, Spy(), Cost((Selection(1),)))
        held.choose(AllCuts(Edges(("from", "to"), 2)), Selection(1))
        assert seen == [asked_for]

    def test_ends_are_chosen_by_their_own_sensitivity_and_paid_for(self):
        asked, seen = PrefixErrors("a", np.array([0, 1, 2]), np.array([0, 0, 0])), []

        class Spy(Noise):
            def select_pair(self, scores, *, epsilon, sensitivity):
                seen.append((scores.tolist(), epsilon, sensitivity))
                return 0, 2

        counts = Cells(DOMAIN, np.array([[1, 2], [3, 4]]), Unit.id("who", 3))
        held = Kernel(counts, Spy(), Cost((Selection(Fraction(1, 2)),)))
        assert held.choose_ends(asked, Selection(Fraction(1, 2))) == (0, 2)
        assert seen == [([0, 3, 10], Fraction(1, 2), 3)]
        with pytest.raises(Undeclared):
            held.choose_ends(asked, Selection(Fraction(1, 2)))
        with pytest.raises(TypeError, match="AskedEnds"):
            held.choose_ends(TOTAL, Selection(Fraction(1, 2)))
        assert len(seen) == 1
