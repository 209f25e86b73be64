"""What was chosen reads itself back, and its text is the one that every version so far has kept."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from fractions import Fraction

import pytest

from core.base.errors import BadParameter
from core.plans.discovery_terms import DiscoveryTerms
from core.plans.plan import Plan
from core.plans.plan_file import read_plan_file, write_plan_file
from core.plans.release_terms import ReleaseTerms
from core.plans.session_terms import SessionTerms
from core.plans.terms import read_terms
from core.privacy.budget import Budget
from core.queries.intervals import Intervals
from core.queries.marginals import Marginals
from tests.core.queries.cases import LINEAR, NONLINEAR, identified

CASES = [*LINEAR, *NONLINEAR]


def release(*queries, **parts):
    return ReleaseTerms(
        **{"table": "abc", "queries": queries, "mechanism": "laplace", "budget": Budget("1/3", "1e-9"), **parts}
    )


SEVERAL = {
    "sets": release(Marginals(sets=(("a",), ("b", "c")), weights=(1, 2.5))),
    "a class twice": release(Marginals(order=1), Marginals(order=2), Intervals(column="x"), Intervals(column="y")),
    "options": release(Marginals(), mechanism="interval-search", options={"mass": "equal", "beta": 0.1}, records=9),
    "any table": release(Marginals(), table=None),
    "an edition": release(Marginals(), edition=7),
    "measured": release(Marginals(), measure=Fraction(1, 50)),
}


@pytest.mark.parametrize("terms", SEVERAL.values(), ids=SEVERAL)
def test_terms_of_a_release_read_themselves_back(terms):
    again = read_terms(terms.content)
    assert again == terms
    assert (again.content, again.id) == (terms.content, terms.id)
    assert ReleaseTerms.from_json(terms.to_json()) == terms


@pytest.mark.parametrize("case", CASES, ids=identified(CASES))
def test_every_class_survives_the_ledger_and_the_file(case):
    terms = release(case[0], case[0])
    assert ReleaseTerms.read(terms.content) == terms
    if case in LINEAR:
        assert read_plan_file(write_plan_file(terms)) == terms.without_table()


def test_a_plan_that_is_not_measured_has_the_text_that_it_always_had():
    terms = release(Marginals())
    assert "measure" not in terms.content and "measure" not in write_plan_file(terms)
    assert replace(terms, measure=Fraction(0)).id == terms.id
    assert replace(terms, measure=Fraction(1, 50)).id != terms.id
    assert '"measure":"1/50"' in replace(terms, measure=0.02).content
    assert read_plan_file(write_plan_file(replace(terms, measure=Fraction(1, 50)))).measure == Fraction(1, 50)


@pytest.mark.parametrize("part", ["0.5", "0.001", "-0.02", "1/0", None, True, "much"])
def test_a_part_for_measuring_is_checked(part):
    with pytest.raises(BadParameter, match="measure"):
        ReleaseTerms.from_json(release(Marginals()).to_json() | {"measure": part})


def test_terms_of_sessions_and_discoveries_read_themselves_back():
    session = SessionTerms(
        table="abc", mechanism="online-laplace", budget=Budget(1), options={"questions": 3}, columns=("a", "b"),
        earlier="f" * 32, edition=2,
    )  # fmt: skip
    discovery = DiscoveryTerms(table="abc", columns={"age": "number", "town": "texts"}, budget=Budget("0.1", "1e-9"))
    for terms in (session, discovery):
        again = read_terms(terms.content)
        assert again == terms
        assert again.id == terms.id


def test_the_text_is_the_one_that_ledgers_hold():
    """Ids are digests of it: a changed letter would sell every stored release a second time."""
    terms = release(Marginals(order=1, columns=("a",)))
    assert terms.content == (
        '{"budget":{"delta":"1/1000000000","epsilon":"1/3"},"edition":1,"mechanism":"laplace","options":{},'
        '"queries":[{"class":"marginals","columns":["a"],"order":1,"sets":[],"weights":[]}],"records":null,'
        '"table":"abc"}'
    )
    session = SessionTerms(table="abc", mechanism="online-laplace", budget=Budget(1))
    assert session.content == (
        '{"budget":{"delta":"0","epsilon":"1"},"columns":null,"earlier":null,"edition":1,"kind":"session",'
        '"mechanism":"online-laplace","options":{},"queries":[],"table":"abc"}'
    )
    discovery = DiscoveryTerms(table="abc", columns={"age": "number"}, budget=Budget(1))
    assert discovery.content == (
        '{"budget":{"delta":"0","epsilon":"1"},"columns":{"age":"number"},"edition":1,"kind":"discovery",'
        '"mechanism":"discovery","queries":[],"table":"abc"}'
    )


@pytest.mark.parametrize(
    "terms", [SEVERAL["sets"], SessionTerms(table="t", mechanism="online-laplace", budget=Budget(1))]
)
def test_a_part_that_is_missing_or_new_is_named(terms):
    for name in terms.to_json():
        if name != "kind":
            less = {other: value for other, value in terms.to_json().items() if other != name}
            with pytest.raises(BadParameter, match=f"^{name}: is missing"):
                read_terms(json.dumps(less))
    with pytest.raises(BadParameter, match=r"^price: is not a part"):
        read_terms(json.dumps(terms.to_json() | {"price": 1}))


def test_a_plan_is_its_terms_and_a_price():
    own = {each.name for each in fields(Plan)} - {each.name for each in fields(ReleaseTerms)}
    assert own == {"cost", "amounts", "units", "expected_error"}
