from fractions import Fraction

import numpy as np
import pytest

from core.mechanisms.iterative.distinguish import Ends, Members, Tables, gaps
from core.models.dense import Dense
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.queries.intervals import Intervals
from core.queries.kit.question import Statistic, WholeTable, place_of
from core.queries.lipschitz import Lipschitz
from core.queries.marginals import Marginals
from core.schema.domain import Domain, Integers
from core.table.counts import Cells
from tests.core.samples import SMALL, small_cells, small_counts
from tests.privacy.recorder import Recorder

SURE = Fraction(1_000)
UNIFORM = Dense.uniform(SMALL, 5_000.0)
SIZES = Intervals(column="size")


def test_gaps_are_true_minus_rounded_totals_in_the_finest_grid():
    half = Lipschitz(columns=("old",), statistics=(("difference", (0,), (1,)),))
    queries = (Marginals(order=1), half)
    errors, sizes, grid = gaps(queries, small_counts(), UNIFORM)
    assert (sizes, grid) == ([9, 1], 2)
    expected = queries[0].totals(small_counts()) - np.rint(queries[0].totals(UNIFORM))
    np.testing.assert_array_equal(errors[:9], 2 * expected)
    assert errors[9] == half.totals(small_counts())[0] - half.totals(UNIFORM)[0]
    assert errors.dtype == np.int64
    assert place_of(queries, sizes, 9) == (half, 0)


def test_members_points_at_the_worst_question_of_all_classes():
    queries = (Marginals(order=1), Marginals(order=2), SIZES)
    errors, _, _ = gaps(queries, small_counts(), UNIFORM)
    question = Members(queries).choose(small_counts(), UNIFORM, Noise(), SURE)
    found = abs(int(question.total(small_counts())) - round(float(question.total(UNIFORM))))
    assert found == np.abs(errors).max()


def test_a_class_that_is_not_linear_gives_a_statistic():
    largest = Lipschitz(columns=("colour", "size"))
    question = Members((largest,)).choose(small_counts(), UNIFORM, Noise(), SURE)
    assert isinstance(question, Statistic)
    assert question.total(small_counts()) == small_counts().marginal(("colour", "size")).max()


def test_tables_points_at_the_table_with_the_largest_distance():
    pairs = Marginals(order=2).tables(SMALL)
    distances = [np.abs(small_counts().marginal(pair) - UNIFORM.marginal(pair)).sum() for pair in pairs]
    chosen = Tables(tuple((pair, 1.0) for pair in pairs), 0.0).choose(small_counts(), UNIFORM, Noise(), SURE)
    assert chosen == WholeTable(pairs[int(np.argmax(distances))])


def test_a_table_that_noise_would_drown_is_not_chosen():
    """The large table is further away, but by less than measuring it would add."""
    sets = ((("old",), 1.0), (("colour", "size", "old"), 1.0))
    assert Tables(sets, 0.0).choose(small_counts(), UNIFORM, Noise(), SURE).columns == ("colour", "size", "old")
    assert Tables(sets, 300.0).choose(small_counts(), UNIFORM, Noise(), SURE).columns == ("old",)


def test_weights_of_tables_count_in_whole_numbers():
    weighed = Tables(((("old",), 4.0), (("size",), 1.0)), 0.0)
    recorder = Recorder(0)
    weighed.choose(small_counts(), UNIFORM, recorder, Fraction(1))
    old, size = (
        np.abs(small_counts().marginal(key) - np.rint(UNIFORM.marginal(key))).sum() for key in (("old",), ("size",))
    )
    assert recorder.calls[0].hidden.tolist() == [64 * old, 16 * size]
    assert recorder.calls[0].sensitivity == 64 == weighed.sensitivity(SMALL, Unit.row())


def test_ends_points_at_the_worst_interval_and_scores_every_one():
    question = Ends(SIZES).choose(small_counts(), UNIFORM, Noise(), SURE)
    errors, _, _ = gaps((SIZES,), small_counts(), UNIFORM)
    assert abs(int(question.total(small_counts())) - round(float(question.total(UNIFORM)))) == np.abs(errors).max()
    recorder = Recorder(0)
    Ends(SIZES).choose(small_counts(), UNIFORM, recorder, Fraction(1))
    ends = recorder.calls[0].hidden
    np.testing.assert_array_equal((ends[None, :] - ends[:, None])[np.triu_indices(5, 1)], errors)


def test_ends_follows_pieces_and_leaves_missing_values_out():
    domain = Domain((Integers(name="x", low=0, high=7, missing=True),))
    counts = Cells(domain, np.array([0, 0, 90, 0, 0, 0, 0, 0, 999]))
    question = Ends(Intervals(column="x", bits=2)).choose(counts, Dense.uniform(domain, 9.0), Noise(), SURE)
    assert question.weights.tolist() == [0, 0, 1, 1, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("unit", [Unit.row(), Unit.row("replace"), Unit.id("p", 3), Unit.id("p", 3, "replace")])
@pytest.mark.parametrize(
    "distinguisher",
    [
        Members((Marginals(order=2), SIZES)),
        Members((Lipschitz(columns=("colour", "old"), statistics=(("largest",), ("top", 2))),)),
        Tables(((("colour", "size"), 1.0), (("old",), 0.5)), 3.0),
        Ends(SIZES),
    ],
)
def test_scores_move_by_at_most_the_declared_sensitivity_and_some_pair_reaches_it(distinguisher, unit):
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
            distinguisher.choose(Cells(SMALL, table, unit), hypothesis, recorder, Fraction(1))
            calls += recorder.calls
        distance = calls[0].distance(calls[1])
        assert distance <= calls[0].sensitivity == distinguisher.sensitivity(SMALL, unit)
        reached = max(reached, distance / calls[0].sensitivity)
    assert reached == 1


def test_sizes_count_every_candidate():
    assert np.isclose(np.exp(Members((Marginals(order=1), SIZES)).log_size(SMALL)), 19)
    assert np.isclose(np.exp(Ends(SIZES).log_size(SMALL)), 20)
    assert np.isclose(np.exp(Tables(((("old",), 1.0), (("size",), 1.0)), 0.0).log_size(SMALL)), 2)
