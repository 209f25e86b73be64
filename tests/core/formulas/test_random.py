"""Random formulas agree with a slow reading row by row; random texts are read or refused."""

from __future__ import annotations

from datetime import date, timedelta
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.base.errors import BadParameter
from core.formulas.grammar import parse
from core.formulas.question import canonical, question
from core.schema.domain import Booleans, Categories, Dates, Domain, Integers, Reals

SMALL = Domain(
    (
        Integers(name="age", low=0, high=11, bins=4, missing=True),
        Integers(name="hours", low=1, high=3),
        Reals(name="income", low=0, high=1, bins=4),
        Categories(name="region", values=("north", "south side", "and"), other="elsewhere", missing=True),
        Booleans(name="ill", missing=True),
        Dates(name="first day", low="2020-01-01", high="2020-01-06", bins=3),
    )
)
VALUES = {
    "age": [*range(12), None],
    "hours": [1, 2, 3],
    "income": [0.0, 0.1, 0.25, 0.3, 0.5, 0.6, 0.75, 0.9, 1.0],
    "region": ["north", "south side", "and", "undeclared", None],
    "ill": [True, False, None],
    "first day": [date(2020, 1, 1) + timedelta(step) for step in range(6)],
}
MIDDLES = {
    "age": {value: Fraction(value // 3 * 3 + 1) for value in range(12)},
    "hours": {value: Fraction(value) for value in range(1, 4)},
    "income": {value: Fraction(min(int(value * 4), 3) * 2 + 1, 8) for value in VALUES["income"]},
}


def records(seed, count=60):
    """Raw records, whose columns are drawn independently."""
    generator = np.random.default_rng(seed)
    return [{name: values[generator.integers(len(values))] for name, values in VALUES.items()} for _ in range(count)]


def ranges():
    """Comparisons of ordered columns at places where bins meet, each with its plain reading."""

    def within(row, low, high):
        return row["age"] is not None and low <= row["age"] <= high

    ends = st.tuples(st.integers(0, 3), st.integers(0, 3)).map(sorted).map(lambda e: (e[0] * 3, e[1] * 3 + 2))
    yield ends.map(lambda e: (f"age >= {e[0]}", lambda r: within(r, e[0], 11)))
    yield ends.map(lambda e: (f"age<={e[1]}.0", lambda r: within(r, 0, e[1])))
    yield ends.map(lambda e: (f"age between {e[0]} and {e[1]}", lambda r: within(r, *e)))
    yield ends.map(lambda e: (f"age NOT between {e[0]} and {e[1]}", lambda r: not within(r, *e)))
    yield st.integers(1, 2).map(lambda v: (f"hours > {v}", lambda r: r["hours"] > v))
    yield st.integers(2, 3).map(lambda v: (f"hours < {v}", lambda r: r["hours"] < v))
    yield st.integers(1, 3).map(lambda v: (f"hours != {v}", lambda r: r["hours"] != v))
    yield st.sampled_from((0.25, 0.5, 0.75)).map(lambda v: (f"income >= {v}", lambda r: r["income"] >= v))
    yield st.sampled_from((0.25, 0.5, 0.75)).map(lambda v: (f"income < {v}", lambda r: r["income"] < v))
    yield st.sampled_from((1, 3, 5)).map(
        lambda v: (f'"first day" >= 2020-01-0{v}', lambda r: r["first day"] >= date(2020, 1, v))
    )


def lists():
    """Conditions that name values, each with its plain reading."""
    names = st.lists(st.sampled_from(("north", "'south side'", "'and'")), min_size=1)
    yield names.map(
        lambda v: (f"region in {{{', '.join(v)}}}", lambda r: r["region"] in [value.strip("'") for value in v])
    )
    yield st.just(("region != 'south side'", lambda r: r["region"] != "south side"))
    yield st.just(("region is other", lambda r: r["region"] == "undeclared"))
    yield st.just(("region is not missing", lambda r: r["region"] is not None))
    yield st.just(("ill", lambda r: r["ill"] is True))
    yield st.just(("ill = no", lambda r: r["ill"] is False))
    yield st.just(("age IS missing", lambda r: r["age"] is None))


TESTS = {
    ">=": Fraction.__ge__,
    ">": Fraction.__gt__,
    "<=": Fraction.__le__,
    "<": Fraction.__lt__,
    "=": Fraction.__eq__,
    "!=": Fraction.__ne__,
}


def planes():
    """Weighted sums, read with fractions at the middles of bins."""
    weight = st.integers(1, 30).map(lambda tenths: Fraction(tenths, 10))
    columns = st.lists(st.sampled_from(tuple(MIDDLES)), min_size=1, max_size=3, unique=True)
    signs = st.lists(st.sampled_from("+-"), min_size=3, max_size=3)
    cut = st.integers(-200, 200).map(lambda twentieths: Fraction(twentieths, 20))
    parts = st.tuples(columns, st.lists(weight, min_size=3, max_size=3), signs, st.sampled_from(tuple(TESTS)), cut)
    return parts.map(lambda drawn: plane(*drawn))


def plane(columns, weights, signs, operator, cut):
    terms = list(zip(signs, weights, columns, strict=False))
    text = " ".join(f"{sign} {float(weight)}*{column}" for sign, weight, column in terms)

    def reading(record):
        if any(record[column] is None for column in columns):
            return operator == "!="
        height = sum((-weight if sign == "-" else weight) * MIDDLES[c][record[c]] for sign, weight, c in terms)
        return TESTS[operator](height, cut)

    return f"{text} {operator} {float(cut)}", reading


def trees():
    leaf = st.one_of(*ranges(), *lists(), planes())

    def grown(inner):
        pair = st.tuples(inner, inner)
        return st.one_of(
            inner.map(lambda part: (f"not ({part[0]})", lambda r: not part[1](r))),
            pair.map(lambda p: (f"({p[0][0]}) and ({p[1][0]})", lambda r: p[0][1](r) and p[1][1](r))),
            pair.map(lambda p: (f"({p[0][0]}) OR ({p[1][0]})", lambda r: p[0][1](r) or p[1][1](r))),
            st.tuples(leaf, leaf, leaf).map(unbracketed),
        )

    return st.recursive(leaf, grown, max_leaves=6)


def unbracketed(parts):
    (first, a), (second, b), (third, c) = parts
    return f"{first} or not {second} and {third}", lambda r: a(r) or (not b(r) and c(r))


CODES = {(name, value): int(SMALL[name].encode([value])[0][0]) for name, values in VALUES.items() for value in values}


@pytest.mark.exhaustive
@settings(max_examples=300, deadline=None)
@given(tree=trees(), seed=st.integers(0, 2**32))
def test_random_formulas_agree_with_a_slow_reading_row_by_row(tree, seed):
    text, reading = tree
    assert parse(canonical(text, SMALL), SMALL) == parse(text, SMALL)
    rows = records(seed)
    truth = [bool(reading(row)) for row in rows]
    try:
        found = question(text, SMALL)
    except BadParameter as refused:
        assert "no possible record" in str(refused)
        assert not any(truth)
        return
    held = [bool(found.weights[tuple(CODES[name, row[name]] for name in found.columns)]) for row in rows]
    assert held == truth


PIECES = (
    *SMALL.names, "north", "'south side'", '"first day"', "and", "or", "not", "in", "between", "is", "missing", "other",
    "=", "!=", "<", "<=", ">", ">=", "*", "+", "-", "(", ")", "{", "}", ",", "'", '"', " ", "0", "3", "-1", "0.5",
    "1e3", "1e999", "2020-01-03", "2020-13-45", ".", "#", "\0", "é", "\ud800", "İ", "٣", "\n", "true", "nan", "ſ",
)  # fmt: skip


def test_random_texts_are_read_or_refused_in_one_sentence():
    generator = np.random.default_rng(11)
    read = 0
    for _ in range(2_000):
        picks = generator.integers(0, len(PIECES), generator.integers(1, 12))
        text = generator.choice(["", " "]).join(PIECES[pick] for pick in picks)
        try:
            question(text, SMALL)
        except BadParameter as refused:
            assert str(refused).startswith("question: ")
            assert str(refused).isprintable()
        else:
            read += 1
            assert parse(canonical(text, SMALL), SMALL) == parse(text, SMALL)
    assert read > 0


@pytest.mark.exhaustive
@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text):
    try:
        question(text, SMALL)
    except BadParameter as refused:
        assert str(refused).isprintable()
