from fractions import Fraction

import numpy as np
import pytest

from core.kernel.kernel import Kernel
from core.kernel.query import Statistic
from core.kernel.remembered import Remembered
from core.kernel.scores import Errors
from core.kernel.tables import Marginal
from core.mechanisms.iterative.distinguish import WorstInterval, WorstMember, WorstTable
from core.models.dense import Dense
from core.privacy.events import Cost, Selection
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.queries.intervals import Intervals
from core.queries.kit.question import place_of, whole_totals
from core.queries.lipschitz import Lipschitz
from core.queries.marginals import Marginals
from core.schema.domain import Domain, Integers
from core.table.counts import Cells
from tests.core.samples import SMALL, small_cells, small_counts
from tests.privacy.kit.recorder import Recorder

SURE = Selection(Fraction(1_000))
UNIFORM = Dense.uniform(SMALL, 5_000.0)
SIZES = Intervals(column="size")


def chosen(distinguisher, counts, hypothesis=UNIFORM, noise=None, event=SURE):
    return distinguisher.choose(Kernel(counts, noise or Noise(), Cost((event,))), hypothesis, event)


def sizes_of_errors(queries, counts=None):
    """All scores of single questions."""
    believed = np.concatenate(whole_totals(queries, UNIFORM))
    return Errors(queries, SMALL, believed).scores(Remembered(counts or small_counts()))


def error_of(question) -> int:
    return abs(int(question.total(small_counts())) - round(float(question.total(UNIFORM))))


def test_errors_are_true_minus_rounded_totals_in_the_finest_grid():
    half = Lipschitz(columns=("old",), statistics=(("difference", (0,), (1,)),))
    queries = (Marginals(order=1), half)
    believed, errors = whole_totals(queries, UNIFORM), sizes_of_errors(queries)
    assert [totals.size for totals in believed] == [9, 1]
    np.testing.assert_array_equal(believed[0], np.floor(2 * queries[0].totals(UNIFORM) + 0.5))
    np.testing.assert_array_equal(errors[:9], np.abs(2 * queries[0].totals(small_counts()) - believed[0]))
    assert errors[9] == abs(half.totals(small_counts())[0] - half.totals(UNIFORM)[0])
    assert errors.dtype == np.int64
    assert place_of(queries, [9, 1], 9) == (half, 0)


def test_members_points_at_the_worst_question_of_all_classes():
    queries = (Marginals(order=1), Marginals(order=2), SIZES)
    assert error_of(chosen(WorstMember(queries), small_counts())) == sizes_of_errors(queries).max()


def test_a_class_that_is_not_linear_gives_a_statistic():
    largest = Lipschitz(columns=("colour", "size"))
    question = chosen(WorstMember((largest,)), small_counts())
    assert isinstance(question, Statistic)
    assert question.total(small_counts()) == small_counts().marginal(("colour", "size")).max()


def test_tables_points_at_the_table_with_the_largest_distance():
    pairs = Marginals(order=2).tables(SMALL)
    distances = [np.abs(small_counts().marginal(pair) - UNIFORM.marginal(pair)).sum() for pair in pairs]
    distinguisher = WorstTable(tuple((pair, 1.0) for pair in pairs), 0.0)
    assert chosen(distinguisher, small_counts()) == Marginal(pairs[int(np.argmax(distances))])


def test_a_table_that_noise_would_drown_is_not_chosen():
    """The large table is further away, but by less than measuring it would add."""
    sets = ((("old",), 1.0), (("colour", "size", "old"), 1.0))
    assert chosen(WorstTable(sets, 0.0), small_counts()).columns == ("colour", "size", "old")
    assert chosen(WorstTable(sets, 300.0), small_counts()).columns == ("old",)


def test_weights_of_tables_count_in_whole_numbers():
    weighed = WorstTable(((("old",), 4.0), (("size",), 1.0)), 0.0)
    recorder = Recorder(0)
    chosen(weighed, small_counts(), noise=recorder)
    old, size = (
        np.abs(small_counts().marginal(key) - np.rint(UNIFORM.marginal(key))).sum() for key in (("old",), ("size",))
    )
    assert recorder.calls[0].hidden.tolist() == [64 * old, 16 * size]
    assert recorder.calls[0].sensitivity == 64


def test_ends_points_at_the_worst_interval_and_scores_every_one():
    errors = sizes_of_errors((SIZES,))
    assert error_of(chosen(WorstInterval(SIZES), small_counts())) == errors.max()
    recorder = Recorder(0)
    chosen(WorstInterval(SIZES), small_counts(), noise=recorder)
    ends = recorder.calls[0].hidden
    np.testing.assert_array_equal(np.abs(ends[None, :] - ends[:, None])[np.triu_indices(5, 1)], errors)


def test_ends_follows_pieces_and_leaves_missing_values_out():
    domain = Domain((Integers(name="x", low=0, high=7, missing=True),))
    counts = Cells(domain, np.array([0, 0, 90, 0, 0, 0, 0, 0, 999]))
    question = chosen(WorstInterval(Intervals(column="x", bits=2)), counts, Dense.uniform(domain, 9.0))
    assert question.weights.tolist() == [0, 0, 1, 1, 0, 0, 0, 0, 0]


@pytest.mark.crossing(keep=4)
@pytest.mark.parametrize("unit", [Unit.row(), Unit.row("replace"), Unit.id("p", 3), Unit.id("p", 3, "replace")])
@pytest.mark.parametrize(
    ("distinguisher", "rows"),
    [
        (WorstMember((Marginals(order=2), SIZES)), lambda unit: unit.limit),
        (
            WorstMember((Lipschitz(columns=("colour", "old"), statistics=(("largest",), ("top", 2))),)),
            lambda unit: unit.limit,
        ),
        (WorstTable(((("colour", "size"), 1.0), (("old",), 0.5)), 3.0), lambda unit: 64 * unit.l1),
        (WorstInterval(SIZES), lambda unit: unit.limit),
    ],
)
def test_scores_move_by_at_most_the_declared_sensitivity_and_some_pair_reaches_it(distinguisher, rows, unit):
    generator, reached = np.random.default_rng(2), 0.0
    for seed in range(60):
        cells = small_cells(50, seed).ravel()
        moved = np.bincount(np.repeat(generator.integers(0, 24), unit.limit), minlength=24)
        back = np.bincount(np.repeat(generator.integers(0, 24), unit.limit), minlength=24)
        first, second = cells + moved, cells + (back if unit.neighbours == "replace" else 0)
        calls = []
        for table in (first, second):
            recorder = Recorder(0)
            hypothesis = Dense.uniform(SMALL, 40.0)
            chosen(distinguisher, Cells(SMALL, table, unit), hypothesis, recorder, Selection(Fraction(1)))
            calls += recorder.calls
        distance = calls[0].distance(calls[1])
        assert distance <= calls[0].sensitivity == rows(unit)
        reached = max(reached, distance / calls[0].sensitivity)
    assert reached == 1


def test_sizes_count_every_candidate():
    assert np.isclose(np.exp(WorstMember((Marginals(order=1), SIZES)).log_size(SMALL)), 19)
    assert np.isclose(np.exp(WorstInterval(SIZES).log_size(SMALL)), 20)
    assert np.isclose(np.exp(WorstTable(((("old",), 1.0), (("size",), 1.0)), 0.0).log_size(SMALL)), 2)
