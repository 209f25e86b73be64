"""Formulas: what the grammar means, the sentence and text of a question, and questions that are clicked together."""

from __future__ import annotations

from datetime import date

import numpy as np
import pytest

from core.base.errors import BadParameter
from core.formulas.grammar import parse
from core.formulas.question import canonical, cell_text, halfspace_text, interval_text, question
from core.privacy.unit import Unit
from core.schema.domain import Categories, Domain, Integers, Reals
from core.table.counts import Cells
from tests.core.formulas.people import PEOPLE, cells

AGES = [f"{start} to {start + 9}" for start in range(0, 100, 10)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("age >= 60", AGES[6:]),
        ("age > 59", AGES[6:]),
        ("age < 60", AGES[:6]),
        ("age <= 59", AGES[:6]),
        ("age ≥ 60", AGES[6:]),
        ("age >= 6e1", AGES[6:]),
        ("age >= 60.0", AGES[6:]),
        ("age between 30 and 49", AGES[3:5]),
        ("age not between 30 and 99", [*AGES[:3], "missing"]),
        ("age = '30 to 39'", [AGES[3]]),
        ("age != '30 to 39'", [*AGES[:3], *AGES[4:], "missing"]),
        ("age in {'30 to 39', '0 to 9', missing}", [AGES[0], AGES[3], "missing"]),
        ("age is missing", ["missing"]),
        ("age is not missing", AGES),
        ("not age >= 10", [AGES[0], "missing"]),
        ("hours = -5", ["-5"]),
        ("hours = '-5'", ["-5"]),
        ("hours < -3", ["-5", "-4"]),
        ("hours <= −4", ["-5", "-4"]),
        ("hours > 97", ["98", "99"]),
        ("hours >= 98 and hours <= 99", ["98", "99"]),
        ("hours between 7 and 7", ["7"]),
        ("hours in {1, 3, 1}", ["1", "3"]),
        ("income >= 0.7", ["0.7 to 0.8", "0.8 to 0.9", "0.9 to 1"]),
        ("income < 0.3", ["0 to 0.1", "0.1 to 0.2", "0.2 to 0.3"]),
        ("income between .3 and 5e-1", ["0.3 to 0.4", "0.4 to 0.5"]),
        ("income between 0.8 and 1", ["0.8 to 0.9", "0.9 to 1"]),
        ("income = '0.3 to 0.4'", ["0.3 to 0.4"]),
        ("not income <= 1 or income >= 0.9", ["0.9 to 1"]),
        ("region = north", ["north"]),
        ("region == 'north'", ["north"]),
        ("region <> north", ["east", "south side", "it's", "elsewhere", "missing"]),
        ("region IN {north, 'south side'}", ["north", "south side"]),
        ("region not in {north, 'south side'}", ["east", "it's", "elsewhere", "missing"]),
        ("region in ('north', 'south side')", ["north", "south side"]),
        ("region NOT IN ('north')", ["east", "south side", "it's", "elsewhere", "missing"]),
        ("age IS NULL", ["missing"]),
        ("age is not null", AGES),
        ("region = 'it''s'", ["it's"]),
        ("region is other", ["elsewhere"]),
        ("region = elsewhere", ["elsewhere"]),
        ("region IS NOT Other", ["north", "east", "south side", "it's", "missing"]),
        ("region = missing", ["missing"]),
        ("ill", ["true"]),
        ("not ill", ["false"]),
        ("not not ill", ["true"]),
        ("ill = yes", ["true"]),
        ("ill != 1", ["false"]),
        ("born >= 2000-01-28", ["2000-01-28 to 2000-01-30"]),
        ("born < 2000-01-04", ["2000-01-01 to 2000-01-03"]),
        ("born <= '2000-01-03'", ["2000-01-01 to 2000-01-03"]),
        ("born between 2000-01-04 and 2000-01-06", ["2000-01-04 to 2000-01-06"]),
        ("born = '2000-01-04 to 2000-01-06'", ["2000-01-04 to 2000-01-06"]),
        ("\"marital status\" = 'and'", ["and"]),
        ("code = 1.0", ["1"]),
        ("code in {2, -3}", ["2", "-3"]),
        ("capital-gain >= 8", ["8", "9"]),
        ('"capital-gain">=8', ["8", "9"]),
        ("2*hours >= 197", ["99"]),
        ("-hours >= 4", ["-5", "-4"]),
        ("hours*0.1 = -0.3", ["-3"]),
        ("0.1*hours <= -0.3", ["-5", "-4", "-3"]),
        ("0.1*hours < -0.3", ["-5", "-4"]),
        ("0.1*hours > 9.7", ["98", "99"]),
        ("3*hours - 2*hours between 0.5 and 2.5", ["1", "2"]),
        ("1*age >= 94.5", [AGES[9]]),
        ("1*age > 94.5 or ill and ill and age >= 90", None),
        ("not 1*age >= 4.6", [AGES[0], "missing"]),
        ("1*age != 4.5", [*AGES[1:], "missing"]),
    ],
)
def test_the_grammar_means_what_it_says(text, expected):
    if expected is not None:
        assert cells(text) == expected
    again = canonical(text, PEOPLE)
    assert parse(again, PEOPLE) == parse(text, PEOPLE)
    assert canonical(again, PEOPLE) == again
    assert question(again, PEOPLE).words == question(text, PEOPLE).words


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("ill or age >= 50 and hours > 3", "ill or (age >= 50 and hours > 3)"),
        ("ill and age >= 50 or hours > 3", "(ill and age >= 50) or hours > 3"),
        ("not ill and age >= 50", "(not ill) and age >= 50"),
        ("not ill or age >= 50", "(not ill) or age >= 50"),
        ("not age >= 50 and ill", "(not (age >= 50)) and ill"),
        ("age between 10 and 19 and ill", "(age between 10 and 19) and ill"),
        ("ill and (age >= 50 and hours > 3)", "ill and age >= 50 and hours > 3"),
        ("NOT(ill)AND(age>=50)", "not ill and age >= 50"),
        ("2*age-1*hours>=3", "-hours + 2*age >= 3"),
    ],
)
def test_precedence(text, same):
    assert parse(text, PEOPLE) == parse(same, PEOPLE)


def test_parentheses_change_the_meaning_where_they_should():
    loose = question("ill or age >= 50 and hours > 3", PEOPLE)
    tight = question("(ill or age >= 50) and hours > 3", PEOPLE)
    assert loose.columns == tight.columns == ("age", "hours", "ill")
    assert (loose.weights != tight.weights).any()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("age>64 or 1", None),
        ("(hours > 64) AND NOT ill=yes", "hours >= 65 and ill != true"),
        ("region in {east, 'north', north}", "region in {north, east}"),
        ("region in {east}", "region = east"),
        ("not region in {east}", "region != east"),
        ("((ill or (hours<3))) and not (ill or ill)", "(ill = true or hours <= 2) and not (ill = true or ill = true)"),
        ('"marital status"=single', '"marital status" = single'),
        ("hours + 2.50*age - hours*2 < 1e3", "2.5*age - hours < 1000"),
    ],
)
def test_canonical_text(text, expected):
    if expected is None:
        with pytest.raises(BadParameter):
            canonical(text, PEOPLE)
    else:
        assert canonical(text, PEOPLE) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("age >= 60 and region in {north, east}", "age at least 60 and region any of north, east"),
        ("age < 60", "age at most 59"),
        ("age not between 10 and 19", "age not from 10 to 19 (missing included)"),
        ("region != north", "region other than north (missing included)"),
        ("region not in {north, missing}", "region none of north, missing"),
        ("region is missing", "region missing"),
        ("income between 0.1 and 0.3", "income from 0.1 to below 0.3"),
        ("not hours > 3", "hours at most 3"),
        ("not ill", "ill = false"),
        ("hours != 3", "hours other than 3"),
        ("not (ill or hours = 3)", "not (ill = true or hours = 3)"),
        ("ill and (hours = 3 or hours = 5)", "ill = true and (hours = 3 or hours = 5)"),
        ("2*age - 0.5*hours >= 40", "2*age - 0.5*hours at least 40, each bin taken at its middle"),
        ("not 2*age > 40", "2*age not above 40 (missing included), each bin taken at its middle"),
    ],
)
def test_the_sentence(text, expected):
    assert question(text, PEOPLE).words == f"share of rows with {expected}"


def test_a_column_of_a_single_bin_cannot_be_divided():
    one = Domain((Integers(name="x", low=0, high=9, bins=1),))
    assert cells("x >= 0", one) == ["0 to 9"]
    with pytest.raises(BadParameter, match="the bin cannot be divided"):
        question("x < 5", one)


def test_the_largest_whole_numbers_are_told_apart():
    high = 2**53
    large = Domain((Integers(name="x", low=high - 3, high=high),))
    assert cells(f"x > {high - 1}", large) == [str(high)]
    assert cells(f"x <= {high}", large) == [str(high - 3 + step) for step in range(4)]


def test_labels_that_look_like_special_cells():
    odd = Domain((Categories(name="x", values=("missing", "in", "other"), other="not", missing=True),))
    assert [np.flatnonzero(question(text, odd).weights).tolist() for text in (
        "x = missing", "x is missing", "x = other", "x is other", "x = 'not'", "x = 'in'", "x in {missing, 'not', 'in'}"
    )] == [[0], [4], [2], [3], [3], [1], [0, 1, 3]]  # fmt: skip
    for text in ("x = missing", "x is missing", "x is not other", "x in {missing, 'not', 'in'}"):
        assert parse(canonical(text, odd), odd) == parse(text, odd)


def test_answers_equal_those_of_counted_rows():
    generator = np.random.default_rng(5)
    domain = PEOPLE.project(("age", "region", "ill"))
    table = generator.integers(0, 9, domain.shape())
    source = Cells(domain, table, Unit.row())
    asked = question("age >= 60 and region in {north, east} and not ill", domain)
    assert asked.total(source) == table[6:10, :2, 0].sum()


def test_clicked_cells():
    text = cell_text({"age": "30 to 39", "marital status": "and", "region": None, "ill": True, "code": -3})
    facts = ["age = '30 to 39'", "\"marital status\" = 'and'", "region is missing", "ill = true", "code = '-3'"]
    assert text == " and ".join(facts)
    found = question(text, PEOPLE)
    assert found.columns == ("age", "region", "ill", "marital status", "code")
    assert np.argwhere(found.weights).tolist() == [[3, 5, 1, 1, 2]]
    with pytest.raises(BadParameter, match="at least one column"):
        cell_text({})


@pytest.mark.parametrize("column", PEOPLE.names)
def test_every_label_can_be_clicked(column):
    for code in range(PEOPLE[column].size):
        weights = question(cell_text({column: PEOPLE[column].label(code)}), PEOPLE).weights
        assert np.flatnonzero(weights).tolist() == [code]


@pytest.mark.parametrize(
    ("domain_column", "low", "high", "expected"),
    [
        ("age", 30, 49, [3, 4]),
        ("age", np.int64(30), 49.0, [3, 4]),
        ("hours", -5, -4, [0, 1]),
        ("income", 0.1, 0.30000000000000004, [1, 2]),
        ("born", date(2000, 1, 4), "2000-01-09", [1, 2]),
    ],
)
def test_clicked_intervals(domain_column, low, high, expected):
    weights = question(interval_text(domain_column, low, high), PEOPLE).weights
    assert np.flatnonzero(weights).tolist() == expected


def test_every_interval_between_edges_of_real_numbers_can_be_clicked():
    for low, high in ((-1 / 3, 1e6 + 0.1), (1e6, 1e6 + 1e-3), (-0.3, 0.4)):
        domain = Domain((Reals(name="x", low=low, high=high, bins=7),))
        edges = domain["x"].edges
        for first in range(7):
            for end in range(first + 1, 8):
                text = canonical(interval_text("x", edges[first], edges[end]), domain)
                assert np.flatnonzero(question(text, domain).weights).tolist() == [*range(first, end)]


def test_clicked_halfspaces():
    text = halfspace_text({"age": 2, "hours": -0.5, "capital-gain": 0.0}, 40)
    assert text == "2*age - 0.5*hours >= 40" == canonical(text, PEOPLE)
    found = question(text, PEOPLE)
    sums = 2 * PEOPLE["age"].centers()[:, None] - 0.5 * PEOPLE["hours"].centers()[None, :]
    assert (found.weights == (sums >= 40)).all()  # comparing with NaN is false: the missing cell is in no halfspace
    assert halfspace_text({"age": 1}, 4.5) == "1*age >= 4.5"
    assert halfspace_text({"home town": -1, "b": 1e-7}, -1e20) == '-"home town" + 1e-07*b >= -1e+20'
    for weights, cut in (({"age": 0}, 1), ({}, 1), ({"age": float("nan")}, 1), ({"age": 1}, float("inf"))):
        with pytest.raises(BadParameter):
            halfspace_text(weights, cut)


def test_an_edge_that_floating_point_missed_is_still_meant():
    domain = Domain((Reals(name="x", low=-0.1, high=0.2, bins=3),))
    assert 0 < abs(domain["x"].edges[1]) < 1e-15
    assert np.flatnonzero(question("x >= 0", domain).weights).tolist() == [1, 2]


def test_a_label_that_several_bins_share_is_not_guessed():
    domain = Domain((Reals(name="x", low=1e6, high=1e6 + 1e-6, bins=4),))
    assert domain["x"].label(0) == domain["x"].label(1)
    with pytest.raises(BadParameter, match="is not a number"):
        question(cell_text({"x": domain["x"].label(1)}), domain)


def test_parentheses_side_by_side_are_not_nested():
    assert question(" or ".join(["(ill)"] * 40), PEOPLE).words.count("ill") == 40
