import math

import numpy as np
import pytest

from core.kernel.query import Statistic
from core.kernel.tables import Marginal
from core.models.nets.median import Halving
from core.models.nets.public_net import everything, multisets, random_net, rows_for
from core.models.points import Points
from core.queries.intervals import Intervals
from core.queries.lipschitz import Lipschitz
from core.queries.marginals import Marginals
from tests.core.samples import SMALL

PAIRS, SIZES = Marginals(order=2), Intervals(column="size")
LARGEST = Lipschitz(columns=("colour",), statistics=(("largest",), ("top", 2)))


def net(members=200, rows=10, seed=0):
    return random_net(24, members, rows, np.random.default_rng(seed))


def databases(lines):
    for line in lines:
        codes = np.stack(np.unravel_index(line, SMALL.shape()), axis=1)
        yield Points(SMALL, codes, np.ones(len(line)))


def test_all_databases_of_a_size_are_listed_once():
    lines = everything(5, 3)
    assert lines.shape == (multisets(5, 3), 3) == (35, 3)
    assert len({tuple(line) for line in lines.tolist()}) == 35


def test_the_size_of_a_net_comes_from_hoeffdings_bound():
    rows = rows_for(0.1, math.log(50))
    assert 2 * 50 * math.exp(-2 * rows * 0.01) < 1 <= 2 * 50 * math.exp(-2 * (rows - 1) * 0.01)


def test_a_random_net_holds_one_sided_and_even_databases():
    shares = [np.bincount(line, minlength=24).max() / 40 for line in net(500, 40)]
    assert min(shares) < 0.15
    assert max(shares) > 0.7


@pytest.mark.parametrize("members", [200, 5])
@pytest.mark.parametrize("query", [PAIRS, SIZES, LARGEST])
def test_a_class_is_answered_by_the_median_of_its_members_answers(query, members):
    lines = net(members)
    model = Halving((query,), lines).start(SMALL, 1_000.0)
    every = np.stack([np.asarray(query.totals(database)) for database in databases(lines)])
    np.testing.assert_allclose(model.totals_for(query), np.median(every, axis=0) * 100)


def test_a_single_question_and_a_table_are_answered_by_medians_too():
    lines = net()
    model = Halving((PAIRS, LARGEST), lines).start(SMALL, 1_000.0)
    question = PAIRS.member(SMALL, 3)
    answers = [question.total(database) * 100 for database in databases(lines)]
    np.testing.assert_allclose(model.values(question), answers)
    assert model.total_for(question) == np.median(answers)
    assert model.total_for(Statistic(LARGEST, 1, 1)) == model.totals_for(LARGEST)[1]
    tables = np.stack([database.marginal(("old", "colour")) for database in databases(lines)])
    np.testing.assert_allclose(model.marginal(("old", "colour")), np.median(tables, axis=0) * 100)
    assert model.marginal(()) == model.total == 1_000


def test_whole_tables_are_not_asked_of_a_median():
    with pytest.raises(TypeError):
        Halving((PAIRS,), net()).start(SMALL, 10.0).total_for(Marginal(("old",)))


def test_every_update_removes_at_least_half_and_keeps_the_side_of_the_value():
    update = Halving((SIZES,), net(1_000, 16))
    model = update.start(SMALL, 1_600.0)
    generator = np.random.default_rng(5)
    for _ in range(6):
        question = SIZES.member(SMALL, int(generator.integers(10)))
        values, middle = model.values(question), model.total_for(question)
        if values.min() == values.max():
            continue
        up = bool(generator.integers(2)) if values.min() < middle < values.max() else middle < values.max()
        smaller = update.apply(model, question, middle + (1 if up else -1))
        assert 1 <= len(smaller) <= len(model) / 2
        assert (smaller.values(question) > middle).all() if up else (smaller.values(question) < middle).all()
        np.testing.assert_allclose(
            smaller.totals_for(SIZES), Halving((SIZES,), smaller.members).start(SMALL, 1_600.0).totals_for(SIZES)
        )
        model = smaller


def test_a_value_equal_to_the_median_counts_as_above_it():
    update = Halving((SIZES,), net(101, 16))
    model = update.start(SMALL, 1_600.0)
    question = SIZES.member(SMALL, 1)
    kept = update.apply(model, question, model.total_for(question))
    assert (kept.values(question) > model.total_for(question)).all()
    assert update.apply(model, question, model.total_for(question) + 3, slack=4.0) is model


def test_where_nobody_is_right_the_nearest_stay():
    lines = np.array([[0, 0], [0, 1], [1, 1]])
    update = Halving((PAIRS,), np.concatenate([lines] * 3))
    model = update.start(SMALL, 2.0)
    question = Marginals(sets=(("old",),)).member(SMALL, 0)
    top = update.apply(model, question, 5.0)
    assert set(top.values(question)) == {2.0}
    assert set(update.apply(top, question, 9.0).values(question)) == {2.0}


def test_the_true_database_is_never_removed_and_found_within_the_theorems_steps():
    lines = everything(24, 2)
    truth = next(databases(lines[[137]]))
    update = Halving((PAIRS,), lines)
    model, steps = update.start(SMALL, 2.0), 0
    while True:
        gaps = PAIRS.totals(truth) - model.totals_for(PAIRS)
        worst = int(np.abs(gaps).argmax())
        if abs(gaps[worst]) == 0:
            break
        question = PAIRS.member(SMALL, worst)
        model, steps = update.apply(model, question, question.total(truth)), steps + 1
        assert (model.members == lines[137]).all(axis=1).any()
    assert steps <= update.steps(SMALL, 0.1) == math.log2(300)


def test_records_come_from_the_members_that_are_left():
    model = Halving((PAIRS,), np.array([[0, 1], [1, 2]])).start(SMALL, 100.0)
    records = model.sample(400, np.random.default_rng(0))
    flat = np.ravel_multi_index(tuple(records.T), SMALL.shape())
    assert np.bincount(flat).tolist() == [100, 200, 100]
    assert model.points.total == 100
