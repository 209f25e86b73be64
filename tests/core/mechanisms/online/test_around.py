"""The coarse table around a question: the question is one of its groups, and all of them cost what one number does."""

from __future__ import annotations

import numpy as np
import pytest

from core.base.errors import Undeclared
from core.kernel.kernel import Kernel
from core.kernel.query import Query
from core.mechanisms.online.around import measure_groups, table_around
from core.mechanisms.online.reading import MOST_TABLE
from core.privacy.events import Cost, Gaussian
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.schema.domain import Categories, Domain, Integers
from core.table.stand_in import StandIn

DOMAIN = Domain(
    (
        Integers(name="age", low=0, high=99),
        Categories(name="town", values=tuple("abcdefghij")),
        Integers(name="hours", low=0, high=49),
    )
)
TABLE = StandIn.uniform(DOMAIN, Unit.row(), 5_000, np.random.default_rng(0))


def conjunction(**conditions: tuple[int, int]) -> Query:
    """Values from one to another of each column."""
    weights = np.ones((), dtype=np.int64)
    for name, (low, high) in conditions.items():
        places = np.arange(DOMAIN[name].size)
        weights = np.multiply.outer(weights, ((places >= low) & (places <= high)).astype(np.int64))
    return Query(columns=tuple(conditions), weights=weights)


@pytest.mark.parametrize(
    "question",
    [
        conjunction(age=(20, 60)),
        conjunction(town=(3, 3)),
        conjunction(age=(0, 30), town=(2, 2)),
        conjunction(age=(20, 60), town=(0, 0), hours=(10, 20)),
        conjunction(age=(99, 99), hours=(0, 49)),
    ],
    ids=lambda question: " ".join(question.columns),
)
def test_the_question_is_one_group_and_the_rest_is_cut(question):
    table = table_around(question, TABLE)
    assert table is not None
    inside = table.picked(question.weights)
    assert inside.sum() == 1
    assert np.array_equal(table.spread(inside), question.weights), "no group is half inside"
    assert 2 ** len(table.columns) <= np.prod(table.shape) <= MOST_TABLE
    if len(table.columns) < 3:
        assert np.prod(table.shape) > 8, "what is outside is cut further"
    for name, groups in zip(table.columns, table.groups, strict=True):
        assert set(groups.tolist()) == set(range(int(groups.max()) + 1))
        if DOMAIN[name].ordered:
            assert np.count_nonzero(np.diff(groups)) == groups.max(), "groups of an ordered column are neighbours"


def test_where_no_one_group_answers_the_question_there_is_no_table():
    either = conjunction(age=(0, 49), town=(0, 0)).weights | conjunction(age=(50, 99), town=(1, 1)).weights
    assert table_around(Query(columns=("age", "town"), weights=either), TABLE) is None
    assert table_around(Query(columns=("age",), weights=np.arange(100), denominator=128), TABLE) is None
    assert table_around(Query(columns=(), weights=np.ones((), dtype=np.int64)), TABLE) is None


def test_all_groups_are_measured_for_the_price_of_one_number():
    question, price = conjunction(age=(20, 60), town=(2, 2)), Gaussian(50)
    table = table_around(question, TABLE)
    assert table is not None
    kernel = Kernel(TABLE, Noise(), Cost((price,)))
    measured = measure_groups(kernel, table, price)
    # Noise of a tenth of a row: rounded to whole rows it is seldom more than one.
    assert np.abs(measured.values - table.total(TABLE)).max() <= 2
    assert measured.sigma == Kernel(TABLE, Noise(), Cost((price,))).measure(question, price).sigma
    with pytest.raises(Undeclared):
        measure_groups(kernel, table, price)
