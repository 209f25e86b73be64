from __future__ import annotations

import math

import numpy as np
import pytest

from core.kernel.tables import LARGEST
from core.models.dense import Dense
from core.models.nets.median import Halving
from core.models.nets.public_net import random_net
from core.queries.intervals import Intervals
from core.queries.kit.question import AnswersItself, log_size_of, member_of, place_of, total_on, totals_on, whole
from core.queries.linear import Linear
from core.queries.marginals import Marginals
from tests.core.samples import SMALL, small_counts

CLASSES = (Marginals(order=1), Intervals(column="size"))


def test_a_set_of_databases_answers_for_itself_and_a_table_does_not():
    databases = Halving(CLASSES, random_net(24, 40, 6, np.random.default_rng(0))).start(SMALL, 60.0)
    assert isinstance(databases, AnswersItself)
    assert not isinstance(Dense.uniform(SMALL, 1.0), AnswersItself)
    assert not isinstance(small_counts(), AnswersItself)
    question = CLASSES[1].member(SMALL, 3)
    assert total_on(question, databases) == np.median(databases.values(question))
    # The median of sums is not the sum of medians, which is what its tables would say.
    apart = [float(query.total(databases)) for query in (CLASSES[1].member(SMALL, place) for place in range(10))]
    assert totals_on(CLASSES[1], databases).tolist() != apart
    assert totals_on(CLASSES[1], small_counts()).tolist() == CLASSES[1].totals(small_counts()).tolist()


def test_whole_totals_are_exact_or_rounded_one_way_and_never_wrap():
    assert whole(np.array([3, -4]), 8).tolist() == [24, -32]
    assert whole(np.array([0.49, 0.5, 1.5, -0.5])).tolist() == [0, 1, 2, 0]
    assert whole(np.array([0.3]), 8).tolist() == [2]
    assert whole(np.array([2**62, -(2**62)]), 2).tolist() == [LARGEST, -LARGEST]
    assert whole(np.array([1e300, -1e300])).tolist() == [LARGEST, -LARGEST]


def test_several_classes_are_laid_end_to_end():
    assert math.exp(log_size_of(CLASSES, SMALL)) == pytest.approx(19)
    assert place_of(CLASSES, (9, 10), 11) == (CLASSES[1], 2)
    found = member_of(CLASSES, (9, 10), SMALL, 9)
    assert found.weights.tolist() == CLASSES[1].member(SMALL, 0).weights.tolist()
    with pytest.raises(IndexError):
        place_of(CLASSES, (9, 10), 19)
    sizes = Linear(columns=("size",), weights=((0, 1, 2, 4),), whole=4)
    assert math.exp(log_size_of((sizes,), SMALL)) == pytest.approx(1)
