"""The same checks for every query class: against its own members and description, and JSON.

What the engine takes on trust from a class is checked in `tests/privacy/test_classes.py`.
"""

from __future__ import annotations

import json
import math
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from core import registry
from core.base.errors import BadParameter
from core.kernel.query import Query
from core.models.histogram import Histogram
from core.models.nets.net_answers import record_answers
from core.models.points import Points
from core.queries.kit.dimensions import scale
from core.queries.kit.protocol import Spanned
from tests.core.queries.cases import LINEAR, NONLINEAR, identified, members, random_cells

linear = pytest.mark.parametrize(("query", "domain"), LINEAR, ids=identified(LINEAR))
every = pytest.mark.parametrize(("query", "domain"), LINEAR + NONLINEAR, ids=identified(LINEAR + NONLINEAR))


@linear
def test_a_model_gives_the_same_answers_as_the_table(query, domain):
    counts = random_cells(domain, 3)
    model = Histogram(domain, counts.cells)
    assert np.allclose(query.totals(model), query.totals(counts), rtol=0, atol=1e-9)
    assert np.allclose(query.answers(counts), query.totals(counts) / (counts.cells.sum() * query.denominator(domain)))
    assert np.allclose(query.answers(counts), [member.answer(counts) for member in members(query, domain)])


@linear
def test_single_records_are_answered_as_one_by_one(query, domain):
    """Small databases and nets take a class's answers to all records at once where it has a faster way."""
    codes = np.stack(np.unravel_index(np.arange(domain.cells()), domain.shape()), axis=1)
    alone = [query.totals(Points(domain, record[None], np.ones(1))) for record in codes[:400]]
    assert np.array_equal(record_answers(query, domain, codes[:400]), np.stack(alone))


@linear
def test_every_member_says_what_it_asks(query, domain):
    asked = members(query, domain)
    assert all(isinstance(member, Query) and member.words for member in asked)
    assert all(member.denominator == query.denominator(domain) for member in asked)
    different = len({(member.columns, member.weights.tobytes()) for member in asked})
    # Planes whose sentences agree to two decimals may still differ.
    assert query.name == "halfspaces" or len({member.words for member in asked}) == different


@linear
def test_members_beyond_the_ends_are_refused(query, domain):
    for index in (-1, len(members(query, domain))):
        with pytest.raises(BadParameter, match="index"):
            query.member(domain, index)


@linear
def test_sampled_members_belong_to_the_class(query, domain):
    known = {(member.columns, member.weights.tobytes()) for member in members(query, domain)}
    drawn = query.sample(domain, 60, np.random.default_rng(0))
    found = {(member.columns, member.weights.tobytes()) for member in drawn}
    assert len(drawn) == 60
    assert found <= known
    assert len(found) > 1 or len(known) == 1


@linear
def test_many_spans_are_answered_as_each_of_them_is(query, domain):
    if not isinstance(query, Spanned):
        assert query.name not in ("intervals", "unions", "rectangles")
        return
    counts, places = random_cells(domain, 5), query.draw(domain, 40, np.random.default_rng(1))
    drawn = [query.member_between(domain, each) for each in places]
    assert np.array_equal(query.totals_between(counts, places), [member.total(counts) for member in drawn])
    sampled = query.sample(domain, 40, np.random.default_rng(1))
    assert all(np.array_equal(one.weights, other.weights) for one, other in zip(drawn, sampled, strict=True))


@every
def test_an_empty_table_has_answers_of_zero(query, domain):
    empty = random_cells(domain, 0, most=1)
    assert not query.answers(empty).any()


@linear
def test_the_dimensions_of_predicates_agree(query, domain):
    claimed = query.vc(domain)
    if query.denominator(domain) == 1:
        assert query.fat(domain, 0.5).low == claimed.low and query.fat(domain, 0.1).high == claimed.high
        assert query.fat(domain, 0.51).high == 0
    assert claimed.why
    for gamma in (0, -1, float("nan"), "much"):
        with pytest.raises(BadParameter, match="gamma"):
            query.fat(domain, gamma)


@linear
def test_the_tables_hold_every_answer(query, domain):
    needed = {frozenset(columns) for columns in query.tables(domain)}
    for member in members(query, domain):
        assert any(set(member.columns) <= columns for columns in needed)


@every
def test_the_sentence_and_the_size(query, domain):
    assert query.sentence(domain)
    assert math.isclose(math.exp(query.log_size(domain)), len(query.totals(random_cells(domain, 0))))


@every
def test_json_keeps_the_class(query, domain, monkeypatch):
    monkeypatch.setattr(registry, "query_classes", {type(query).name: type(query)})
    text = json.dumps(registry.query_to_json(query))
    back = registry.query_from_json(json.loads(text))
    assert back == query and hash(back) == hash(query)
    assert type(query).__doc__ and type(query).title


@every
def test_a_class_cannot_be_changed(query, domain):
    with pytest.raises(FrozenInstanceError):
        query.columns = ("a",)


def test_a_scale_is_above_zero():
    assert scale(0.25) == 0.25
