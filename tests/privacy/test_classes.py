"""Every registered query class keeps what the engine takes on trust from it, and a class that does not is caught."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from core import registry
from core.schema.domain import Domain
from tests.core.queries.cases import different_points, identified
from tests.privacy.kit import classes

LINEAR, NONLINEAR = classes.examples(linear=True), classes.examples(linear=False)
EVERY = LINEAR + NONLINEAR
linear = pytest.mark.parametrize(("query", "domain"), LINEAR, ids=identified(LINEAR))
nonlinear = pytest.mark.parametrize(("query", "domain"), NONLINEAR, ids=identified(NONLINEAR))
every = pytest.mark.parametrize(("query", "domain"), EVERY, ids=identified(EVERY))


def test_every_registered_class_is_checked():
    assert {query.name for query, _ in EVERY} == registry.query_classes.keys()
    searched = {
        query.name
        for query, domain in LINEAR
        if different_points(classes.one_row(query, domain)).shape[1] <= classes.MOST_POINTS
    }
    assert searched == {query.name for query, _ in LINEAR}, "each has an example small enough for an exact search"


@pytest.mark.crossing(keep=1, each="query")
@linear
def test_totals_are_sums_over_the_rows(query: Any, domain: Domain):
    classes.check_linear(query, domain)


@linear
def test_a_row_counts_for_no_more_than_the_denominator(query: Any, domain: Domain):
    classes.check_change(query, domain)


@nonlinear
def test_no_row_moves_a_statistic_further_than_the_denominator(query: Any, domain: Domain):
    classes.check_every_change(query, domain)


@pytest.mark.crossing(keep=2, each="query")
@linear
def test_members_agree_with_totals(query: Any, domain: Domain):
    classes.check_members(query, domain)


@pytest.mark.crossing(keep=2, each="query")
@every
def test_worst_is_the_largest_difference_of_all_answers(query: Any, domain: Domain):
    classes.check_worst(query, domain)


@linear
def test_the_dimension_is_between_its_bounds(query: Any, domain: Domain):
    classes.check_dimension(query, domain)


def made_wrong(query: Any, **methods: Any) -> Any:
    """The same class with another method."""
    kind = type("Wrong", (type(query),), methods)
    return kind(**{each.name: getattr(query, each.name) for each in fields(query)})


def finds_nothing(query: Any) -> Any:
    return made_wrong(query, worst=lambda self, truth, estimate: 0.0)


def too_simple(query: Any) -> Any:
    return made_wrong(query, **{name: _shifted(query, name, -1) for name in ("vc", "fat")})


def too_rich(query: Any) -> Any:
    return made_wrong(query, **{name: _shifted(query, name, 1) for name in ("vc", "fat")})


def _shifted(query: Any, name: str, by: int) -> Callable[..., Any]:
    """Bounds around another number: below all that is right, or above it."""
    right = getattr(type(query), name)

    def claimed(self: Any, *parts: Any) -> Any:
        told = right(self, *parts)
        return replace(told, low=told.high + 1) if by > 0 else replace(told, low=0, high=told.low - 1)

    return claimed


def off_by_one(query: Any) -> Any:
    def member(self: Any, domain: Domain, index: int) -> Any:
        return query.member(domain, (index + 1) % round(np.exp(query.log_size(domain))))

    return made_wrong(query, member=member)


def rows_count_twice(query: Any) -> Any:
    return made_wrong(query, totals=lambda self, source: 2 * query.totals(source))


def denominator_too_small(query: Any) -> Any:
    halved, kept = lambda self, domain: query.denominator(domain) // 2, lambda self, source: query.totals(source)
    return made_wrong(query, denominator=halved, totals=kept)


def half_counted(query: Any) -> Any:
    """Not linear: a third row of a kind is left out, which a table of one row does not show."""
    return made_wrong(query, totals=lambda self, source: np.minimum(query.totals(source), 2))


def small(name: str) -> tuple[Any, Domain]:
    """An example of a class with several members, the smallest there is."""
    found = [
        (query, domain)
        for query, domain in LINEAR
        if query.name == name and len(np.unique(classes.one_row(query, domain), axis=0)) > 1
    ]
    return min(found, key=lambda case: (case[1].cells(), case[0].log_size(case[1])))


MISTAKES: tuple[tuple[Callable[[Any], Any], Callable[[Any, Domain], None]], ...] = (
    (finds_nothing, classes.check_worst),
    (too_simple, classes.check_dimension),
    (too_rich, classes.check_dimension),
    (off_by_one, classes.check_members),
    (rows_count_twice, classes.check_change),
    (denominator_too_small, classes.check_change),
    (half_counted, classes.check_linear),
)


@pytest.mark.crossing(keep=2, each="mistake")
@pytest.mark.parametrize("name", sorted({query.name for query, _ in LINEAR}))
@pytest.mark.parametrize(("mistake", "check"), MISTAKES, ids=lambda part: part.__name__)
def test_a_wrong_class_is_caught(name: str, mistake: Callable[[Any], Any], check: Callable[[Any, Domain], None]):
    query, domain = small(name)
    check(query, domain)
    with pytest.raises(AssertionError, match=r"must|denominator"):
        check(mistake(query), domain)


@pytest.mark.parametrize("mistake", [rows_count_twice, denominator_too_small], ids=lambda part: part.__name__)
def test_a_wrong_statistic_is_caught(mistake: Callable[[Any], Any]):
    for query, domain in NONLINEAR:
        with pytest.raises(AssertionError, match="denominator"):
            classes.check_every_change(mistake(query), domain)


def test_a_statistic_that_finds_no_error_is_caught():
    for query, domain in NONLINEAR:
        with pytest.raises(AssertionError, match="largest error"):
            classes.check_worst(finds_nothing(query), domain)
