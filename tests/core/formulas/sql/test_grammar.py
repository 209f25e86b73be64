"""What of SQL is read, what is refused in which sentence, and that any text is one of the two."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.base.errors import BadParameter
from core.formulas.question import written_out
from core.formulas.sql.grammar import is_select, parse_select
from core.schema.domain import Booleans, Domain, Integers
from tests.core.formulas.people import PEOPLE
from tests.core.formulas.sql.rows import DOMAIN

HERE = "is not expected here"


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("SELECT COUNT(*) FROM t", None),
        ("select count(*) from people p where p.hours > 3", "hours >= 4"),
        ('SELECT COUNT("age") FROM "my table" AS m WHERE AGE IS NOT NULL;', "age is not missing"),
        ("SELECT COUNT(*) FROM t WHERE region IN ('north', 'south side')", "region in {north, 'south side'}"),
        ("SELECT COUNT(*) FROM t WHERE region <> 'north'", "region not in {north, missing}"),
        ("SELECT COUNT(*) FROM t WHERE hours <> 4", "hours != 4"),
        ("SELECT COUNT(*) FROM t WHERE NOT (age >= 60 OR ill)", "age <= 59 and ill != true"),
        ("SELECT COUNT(*) FROM t WHERE NOT age BETWEEN 20 AND 39", "age <= 19 or age >= 40"),
        ("SELECT COUNT(*) FROM t WHERE NOT age + hours > 7", "age + hours <= 7"),
        ("SELECT COUNT(*) FROM t WHERE NOT age + hours = 7", "age + hours < 7 or age + hours > 7"),
        ("SELECT COUNT(*) FROM t WHERE born <= DATE '2000-01-03'", "born <= 2000-01-03"),
        ("SELECT COUNT(*) FROM t WHERE income BETWEEN 0.5 AND 1", "income >= 0.5 and income >= 0"),
    ],
)
def test_a_condition_is_a_formula_with_sqls_meaning(text, condition):
    found = parse_select(text, PEOPLE).condition
    assert (None if found is None else written_out(found, PEOPLE)) == condition


def test_what_is_selected_and_by_what():
    found = parse_select(
        "SELECT region, COUNT(*), AVG(age) AS mean, MEDIAN(hours) m, QUANTILE(hours, .9), "
        'PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY hours ASC) FROM t GROUP BY 1, "marital status", Region',
        PEOPLE,
    )
    assert found.groups == ("region", "marital status")
    assert [(part.measure, part.column, part.share) for part in found.aggregates] == [
        ("count", None, 0),
        ("average", "age", 0),
        ("quantile", "hours", 0.5),
        ("quantile", "hours", 0.9),
        ("quantile", "hours", 0.25),
    ]
    percentile = "PERCENTILE_CONT(0.25) WITHIN GROUP(ORDER BY hours ASC)"
    assert [part.title for part in found.aggregates] == ["COUNT(*)", "mean", "m", "QUANTILE(hours, .9)", percentile]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("SELECT * FROM t", "SELECT * would show rows, and no row is ever shown; count them: SELECT COUNT(*) FROM t."),
        ("SELECT age FROM t", "column 'age' would be shown row by row; put it after GROUP BY."),
        ("SELECT age, COUNT(*) FROM t GROUP BY ill", "column 'age' would be shown row by row; put it after GROUP BY."),
        (
            "SELECT ill FROM t GROUP BY ill",
            "nothing is counted; select COUNT(*), SUM, AVG, MEDIAN or QUANTILE of a column.",
        ),
        (
            "SELECT DISTINCT ill FROM t",
            "'DISTINCT' at character 8 is not read; group by the column and count: SELECT COUNT(*) FROM t GROUP BY …",
        ),
        (
            "SELECT COUNT(DISTINCT age) FROM t",
            "'DISTINCT' at character 14 is not read; how many values a column has is in the public schema.",
        ),
        (
            "SELECT MAX(age) FROM t",
            "'MAX' at character 8 depends on single rows; ask a quantile such as QUANTILE(age, 0.05).",
        ),
        (
            "SELECT STDDEV(age) FROM t",
            "'STDDEV' at character 8 is not answered; ask COUNT(*) for each value by GROUP BY and compute it "
            "from that.",
        ),
        ("SELECT AVGG(age) FROM t", "'AVGG' at character 8 is no function that is read; did you mean 'avg'?"),
        (
            "SELECT now() FROM t",
            "'now' at character 8 is no function that is read; use COUNT, SUM, AVG, MEDIAN or QUANTILE.",
        ),
        ("SELECT AVG(region) FROM t", "column 'region' is not a column of numbers; AVG needs one, COUNT does not."),
        ("SELECT MEDIAN(born) FROM t", "column 'born' is not a column of numbers; MEDIAN needs one, COUNT does not."),
        ("SELECT SUM(agee) FROM t", "there is no column 'agee'; did you mean 'age'?"),
        ("SELECT SUM(age + hours) FROM t", f"'+' at character 16 {HERE}; close the parenthesis by ) after one column."),
        (
            "SELECT QUANTILE(age, 1) FROM t",
            "'1' at character 22 is no share of the rows; write a number between 0 and 1.",
        ),
        (
            "SELECT QUANTILE(age) FROM t",
            f"')' at character 20 {HERE}; write the share after a comma, such as QUANTILE(age, 0.9).",
        ),
        (
            "SELECT COUNT(*) AS n, SUM(age) n FROM t",
            "two columns of the answer would be called 'n'; name one of them by AS.",
        ),
        (
            'SELECT COUNT(*) n, SUM(age) AS "n to" FROM t',
            "two columns of the answer would be called 'n to'; name one of them by AS.",
        ),
        (
            "SELECT ill, COUNT(*) AS ill FROM t GROUP BY ill",
            "two columns of the answer would be called 'ill'; name one of them by AS.",
        ),
        ("SELECT COUNT(*)", f"the end of the formula {HERE}; write FROM and the name of the table."),
        ("SELECT COUNT(*) FROM", f"the end of the formula {HERE}; write the name of the table."),
        (
            "SELECT COUNT(*) FROM (SELECT 1)",
            "'(' at character 22 begins a table inside the statement, which is not read; name the one table.",
        ),
        (
            "SELECT COUNT(*) FROM a, b",
            "',' at character 23 begins a second table; one table is asked about at a time.",
        ),
        (
            "SELECT COUNT(*) FROM a JOIN b ON a.x = b.x",
            "'JOIN' at character 24 is not read: one table is asked about at a time.",
        ),
        (
            "SELECT COUNT(*) FROM t WHERE ill ORDER BY 1",
            "'ORDER' at character 34 is not read: groups come in the order of the schema, all of them.",
        ),
        (
            "SELECT COUNT(*) FROM t GROUP BY ill HAVING COUNT(*) > 5",
            "'HAVING' at character 37 is not read: choose among the groups when they are answered.",
        ),
        (
            "SELECT COUNT(*) FILTER (WHERE ill) FROM t",
            "'FILTER' at character 17 is not read: put the condition after WHERE.",
        ),
        (
            "SELECT COUNT(*) FROM t UNION SELECT 1",
            "'UNION' at character 24 is not read: one statement is asked at a time.",
        ),
        (
            "SELECT COUNT(*) FROM t WHERE hours IN (SELECT 1)",
            "'SELECT' at character 40 begins a statement inside the statement, which is not read.",
        ),
        (
            "SELECT COUNT(*) FROM t WHERE region LIKE 'no%'",
            "'LIKE' at character 37 compares parts of a text, but column 'region' has whole values only; "
            "list those that fit, such as in (north, east).",
        ),
        (
            "SELECT COUNT(*) FROM t WHERE hours IS NULL",
            "the schema declares no cell for missing values of column 'hours'.",
        ),
        (
            "SELECT COUNT(*) FROM t WHERE income BETWEEN 0.2 AND 0.5",
            "each bin of column 'income' holds its left end; use < instead of <=.",
        ),
        ("SELECT COUNT(*) FROM t WHERE age >= 65", "65 lies inside the bin 60 to 69 of column 'age'; use 60 or 70."),
        (
            "SELECT COUNT(*) FROM t GROUP BY 1",
            "'1' at character 33 is not the place of a column among what is selected.",
        ),
        ("DROP TABLE t", "'DROP' at character 1 is not read; ask by SELECT, such as SELECT COUNT(*) FROM t."),
        (
            "WITH a AS (SELECT 1) SELECT 2",
            "'WITH' at character 1 is not read; ask by SELECT, such as SELECT COUNT(*) FROM t.",
        ),
        (
            "SELECT COUNT(*) FROM t; DROP TABLE t",
            "the sign ; at character 23 has no meaning here; put a name or value with signs in quotes.",
        ),
        (
            "SELECT PERCENTILE_DISC(0.1) WITHIN GROUP (ORDER BY age DESC) FROM t",
            f"'DESC' at character 56 {HERE}; count the share from below, with 1 less the number.",
        ),
    ],
)
def test_every_refusal_is_one_sentence(text, sentence):
    with pytest.raises(BadParameter) as caught:
        parse_select(text, PEOPLE)
    assert str(caught.value) == f"question: {sentence}"
    if "; DROP" not in text:
        assert is_select(text), "and it is refused as a statement, not as a formula"


def test_many_aggregates_are_asked_in_parts():
    listed = ", ".join(f"COUNT(*) AS n{place}" for place in range(17))
    with pytest.raises(BadParameter, match="more than 16 aggregates"):
        parse_select(f"SELECT {listed} FROM t", PEOPLE)


def test_a_formula_is_no_statement_even_about_a_column_called_select():
    odd = Domain((Booleans(name="select"), Integers(name="with", low=0, high=9), Integers(name="from", low=0, high=9)))
    for text in ("select", "select and with > 3", "select = true", "with in {1, 2}", "age >= 65", "with * 2 >= 3"):
        assert not is_select(text)
    assert is_select("select count(*) from t where select and with > 3 and from = 2")
    assert parse_select("select with, count(*) from from where from = 2 group by with", odd).groups == ("with",)


PIECES = (
    "SELECT", "select", "COUNT", "(", "*", ")", "FROM", "t", "WHERE", "GROUP", "BY", "AVG", "SUM", "MEDIAN", "QUANTILE",
    "PERCENTILE_CONT", "WITHIN", "ORDER", "AS", ",", ";", "age", "hours", "region", "'north'", '"first day"', "ill",
    "AND", "NOT", "IN", "IS", "NULL", "BETWEEN", "LIKE", "<>", ">=", "3", "0.5", "1e999", "DATE", "'2020-01-03'",
    "JOIN", ".", "--", "/*", "\0", "İ", "٣", "²", "\ud800",
)  # fmt: skip


STARTS = (
    "SELECT region , COUNT ( * ) FROM t WHERE ill AND NOT age BETWEEN 3 AND 5 GROUP BY region",
    "SELECT AVG ( hours ) AS mean , QUANTILE ( hours , 0.5 ) FROM t WHERE region IN ( 'north' , 'b' ) OR age IS NULL",
    "SELECT PERCENTILE_CONT ( 0.5 ) WITHIN GROUP ( ORDER BY hours ) FROM t WHERE \"first day\" >= DATE '2020-01-03'",
)


@pytest.mark.exhaustive
def test_statements_with_a_few_words_changed_are_read_or_refused_in_one_sentence():
    generator = np.random.default_rng(5)
    read = 0
    for _ in range(3_000):
        words = STARTS[generator.integers(len(STARTS))].split(" ")
        for _ in range(generator.integers(1, 4)):
            place = generator.integers(len(words))
            words[place : place + generator.integers(2)] = [PIECES[generator.integers(len(PIECES))]][
                : generator.integers(2)
            ]
        text = " ".join(words)
        try:
            is_select(text)
            parse_select(text, DOMAIN)
        except BadParameter as refused:
            assert str(refused).startswith("question: ")
            assert str(refused).isprintable()
        else:
            read += 1
    assert 200 < read < 2_800


@pytest.mark.exhaustive
@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text):
    for start in ("", "SELECT ", "SELECT COUNT(*) FROM t WHERE "):
        try:
            parse_select(start + text, DOMAIN)
        except BadParameter as refused:
            assert str(refused).isprintable()
