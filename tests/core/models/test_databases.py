"""Explicit sets of small databases."""

from __future__ import annotations

import math

import numpy as np
import pytest

from core.kernel.query import Query
from core.models.databases import Databases, all_of, everywhere, listed
from core.models.nets.public_net import everything
from core.schema.domain import Domain, Integers

DOMAIN = Domain(tuple(Integers(name=name, low=0, high=high) for name, high in (("a", 2), ("b", 1))))
LAST = Query(columns=("a",), weights=np.array([0, 0, 1]))


@pytest.mark.parametrize(("cells", "rows"), [(2, 5), (3, 4), (6, 2), (4, 1)])
def test_all_databases_are_listed_once(cells, rows):
    found = all_of(cells, rows).toarray()
    assert len(found) == math.comb(cells + rows - 1, rows) == len(np.unique(found, axis=0))
    assert (found.sum(axis=1) == rows).all() and (found >= 0).all()
    same = listed(everything(cells, rows), cells).toarray()
    assert sorted(map(tuple, found.tolist())) == sorted(map(tuple, same.tolist()))


def test_weights_for_every_record_follow_the_order_of_the_schema():
    generator = np.random.default_rng(0)
    question = Query(columns=("b", "a"), weights=generator.integers(0, 5, (2, 3)), denominator=4)
    table = generator.integers(0, 9, (3, 2))
    assert everywhere(question, DOMAIN) @ table.ravel() == (question.weights * table.T).sum()
    whole = Query(columns=(), weights=np.array(1))
    assert (everywhere(whole, DOMAIN) == 1).all()


def test_answers_are_scaled_to_the_table():
    members = Databases.of(DOMAIN, 100.0, 4, listed(np.array([[0, 1, 4, 5], [5, 5, 5, 5]]), 6))
    assert members.values(LAST).tolist() == [50.0, 100.0]
    assert np.allclose(members.marginal(("a",)), [25, 0, 75])


def test_members_beyond_an_answer_are_ruled_out():
    members = Databases.of(DOMAIN, 100.0, 4, all_of(6, 4))
    after = members.learnt(LAST, 50.0, 10.0, np.random.default_rng(0))
    assert set(after.values(LAST)) == {50.0}
    assert len(after) == int((members.values(LAST) == 50.0).sum()) < len(members)
    assert len(members) == math.comb(9, 4)


def test_answers_that_contradict_each_other_leave_the_best_members():
    members = Databases.of(DOMAIN, 100.0, 4, all_of(6, 4), fewest=3)
    after = members
    for value in (0.0, 0.0, 100.0):
        after = after.learnt(LAST, value, 10.0, np.random.default_rng(0))
    # Two of three answers say 0, so least squares in limits puts 25 or 50 before 75 and 100.
    assert len(after) >= 3
    assert set(after.values(LAST)) == {25.0}
