"""SELECT statements beside DuckDB: random conditions, groups, sums, averages and quantiles; intervals; the price."""

from __future__ import annotations

from datetime import date

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.base.errors import BadParameter
from core.formulas.grammar import parse
from core.formulas.question import written_out
from core.formulas.sql.estimates import Known, estimate, most_questions
from core.formulas.sql.grammar import parse_select
from core.formulas.sql.groups import MOST_QUESTIONS, groups_of, most_asked
from core.formulas.syntax import leaves
from core.schema.domain import Categories, Domain, Integers
from tests.core.formulas.sql.rows import DOMAIN, counted, drawn, exactly, in_duckdb

ROWS = drawn(1)


def known(name, test):
    """A comparison of one column: unknown where it is missing."""
    return lambda row: None if row[name] is None else test(row[name])


def plainly():
    """Comparisons as SQL writes them, each with its reading of one row: true, false or None for unknown."""
    ends = st.tuples(st.integers(0, 3), st.integers(0, 3)).map(sorted).map(lambda e: (e[0] * 3, e[1] * 3 + 2))
    yield ends.map(lambda e: (f"age >= {e[0]}", known("age", lambda v: v >= e[0])))
    yield ends.map(lambda e: (f"AGE <= {e[1]}", known("age", lambda v: v <= e[1])))
    yield ends.map(lambda e: (f"t.age BETWEEN {e[0]} AND {e[1]}", known("age", lambda v: e[0] <= v <= e[1])))
    yield ends.map(lambda e: (f"age NOT BETWEEN {e[0]} AND {e[1]}", known("age", lambda v: not e[0] <= v <= e[1])))
    hours = st.integers(-1, 2)
    yield hours.map(lambda v: (f"hours > {v}", known("hours", lambda found: found > v)))
    yield hours.map(lambda v: (f"hours <> {v}", known("hours", lambda found: found != v)))
    yield hours.map(lambda v: (f"2*hours + 1*hours != {3 * v}", known("hours", lambda found: found != v)))
    yield hours.map(lambda v: (f"hours NOT IN ({v}, 3)", known("hours", lambda found: found not in (v, 3))))
    yield st.sampled_from((0.25, 0.5)).map(lambda v: (f"income < {v}", known("income", lambda found: found < v)))
    yield st.just(("income BETWEEN 0.5 AND 1", known("income", lambda found: 0.5 <= found <= 1)))
    yield st.sampled_from((1, 3, 5)).map(
        lambda d: (f"\"first day\" >= DATE '2020-01-0{d}'", known("first day", lambda v: v >= date(2020, 1, d)))
    )
    yield st.just(("region IN ('north', 'it''s')", known("region", lambda v: v in ("north", "it's"))))
    yield st.just(("region <> 'south side'", known("region", lambda v: v != "south side")))
    yield st.just(("Region = 'elsewhere'", known("region", lambda v: v == "elsewhere")))
    yield st.just(("region IS NULL", lambda row: row["region"] is None))
    yield st.just(("age IS NOT NULL", lambda row: row["age"] is not None))
    yield st.just(("ill", known("ill", lambda v: v)))
    yield st.just(("ill = FALSE", known("ill", lambda v: not v)))


def opposite(found):
    return None if found is None else not found


def both(first, second):
    return False if first is False or second is False else None if None in (first, second) else True


def trees():
    leaf = st.one_of(*plainly())

    def grown(inner):
        pair = st.tuples(inner, inner)
        return st.one_of(
            inner.map(lambda part: (f"NOT ({part[0]})", lambda r: opposite(part[1](r)))),
            pair.map(lambda p: (f"({p[0][0]}) AND ({p[1][0]})", lambda r: both(p[0][1](r), p[1][1](r)))),
            pair.map(
                lambda p: (
                    f"({p[0][0]}) OR NOT ({p[1][0]})",
                    lambda r: opposite(both(opposite(p[0][1](r)), p[1][1](r))),
                )
            ),
        )

    return st.recursive(leaf, grown, max_leaves=6)


def asked(text, counts, domain=DOMAIN):
    """The answer with exact counts: labels of a group, then its numbers."""
    select = parse_select(text, domain)
    return {
        group.labels: tuple(
            estimate(part, group.condition, domain, exactly(counts)).value for part in select.aggregates
        )
        for group in groups_of(select, domain)
    }


@pytest.mark.exhaustive
@settings(max_examples=150, deadline=None)
@given(tree=trees())
def test_random_conditions_agree_with_duckdb_and_with_a_slow_reading_row_by_row(tree):
    text, reading = tree
    statement = f"SELECT COUNT(*) FROM t WHERE {text}"
    slow = sum(reading(row) is True for row in ROWS)
    assert in_table(statement)[0][0] == slow
    try:
        assert asked(statement, COUNTS) == {(): (slow,)}
    except BadParameter as refused:
        assert "no possible record" in str(refused)
        assert slow == 0
    condition = parse_select(statement, DOMAIN).condition
    assert asked_by_formula(condition) == slow, "the same condition as a formula means the same"


def asked_by_formula(condition):
    node = parse(written_out(condition, DOMAIN), DOMAIN)
    named = {name for leaf in leaves(node) for name in leaf.columns}
    select = parse_select("SELECT COUNT(*) FROM t", DOMAIN)
    assert named
    return estimate(select.aggregates[0], node, DOMAIN, exactly(COUNTS)).value


TABLE, COUNTS = in_duckdb(ROWS), counted(ROWS)


def in_table(statement):
    return TABLE.execute(statement).fetchall()


def label(value):
    return "missing" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


@pytest.mark.parametrize(
    ("selected", "groups"),
    [
        ("COUNT(*)", ""),
        ("COUNT(*), COUNT(hours), SUM(hours), AVG(hours)", ""),
        ("COUNT(*) AS n, AVG(hours), SUM(hours) total", "region"),
        ("COUNT(*), COUNT(age)", "ill, region"),
        ("AVG(hours)", "hours"),
        ("quantile_disc(hours, 0.5), QUANTILE_DISC(hours, 0.9), quantile_disc(hours, 0.07)", "region"),
        ("percentile_disc(0.25) WITHIN GROUP (ORDER BY hours)", "ill"),
    ],
)
@pytest.mark.parametrize("where", ["", "WHERE ill OR region <> 'north'", "WHERE hours >= 1 AND region IS NOT NULL"])
def test_groups_agree_with_duckdb(selected, groups, where):
    columns = f"{groups}, " if groups else ""
    by = f"GROUP BY {groups}" if groups else ""
    statement = f"SELECT {columns}{selected} FROM t {where} {by}"
    width = len(groups.split(", ")) if groups else 0
    theirs = {tuple(label(value) for value in row[:width]): row[width:] for row in in_table(statement)}
    ours = asked(statement, COUNTS)
    assert theirs.keys() <= ours.keys()
    for labels, values in ours.items():
        if labels in theirs:
            assert values == pytest.approx(theirs[labels], abs=1e-6)
        else:
            assert not any(values), "a group that no row is in"


def test_a_bin_counts_at_its_middle():
    found = asked("SELECT AVG(age), SUM(age), MEDIAN(income) FROM t WHERE age >= 3", COUNTS)[()]
    ages = [row["age"] // 3 * 3 + 1 for row in ROWS if row["age"] is not None and row["age"] >= 3]
    assert found[:2] == pytest.approx((np.mean(ages), sum(ages)), abs=1e-6)
    assert found[2] in (0.125, 0.375, 0.625, 0.875)


def noisy(counts, errors, margin):
    """Answers that are off by one of some errors."""
    place = iter(range(10**6))
    return lambda query: Known(
        float(query.total(counts)) / query.denominator + errors[next(place) % len(errors)], margin
    )


@pytest.mark.parametrize("selected", ["COUNT(*)", "SUM(hours)", "AVG(hours)", "MEDIAN(hours)", "QUANTILE(hours, 0.8)"])
@pytest.mark.parametrize("where", ["", "WHERE ill", "WHERE region IS NULL AND ill"])
def test_an_interval_holds_the_truth_while_every_answer_is_within_its_margin(selected, where):
    """Also with every error at the end of its margin; few rows make the widest averages."""
    statement = f"SELECT {selected} FROM t {where}"
    select = parse_select(statement, DOMAIN)
    truth = asked(statement, COUNTS)[()][0]
    widths = []
    for errors in ((4, 4), (-4, 4), (4, -4), (-4, -4), (-4, -4, 4, 4, 4), (4, 4, -4, -4)):
        found = estimate(select.aggregates[0], select.condition, DOMAIN, noisy(COUNTS, errors, 4.0))
        assert found.low - 1e-6 <= truth <= found.high + 1e-6
        asked_at_most = most_questions(select.aggregates[0], DOMAIN)
        assert found.confidence >= 1 - 0.05 * min(asked_at_most, 3) - 1e-9
        widths.append(found.high - found.low)
    exact = estimate(select.aggregates[0], select.condition, DOMAIN, exactly(COUNTS))
    assert exact.high - exact.low <= min(widths)


def test_the_interval_of_a_quantile_is_narrow_where_answers_are_exact():
    domain = Domain((Integers(name="age", low=0, high=99),))
    rows = [{"age": int(age)} for age in np.random.default_rng(2).integers(0, 100, 20_000)]
    truth = int(np.sort([row["age"] for row in rows])[9_999])
    select = parse_select("SELECT MEDIAN(age) FROM t", domain)
    for errors in ((20, -20, 10), (-20, 0, 20), (0, 0, 0)):
        found = estimate(select.aggregates[0], None, domain, noisy(counted(rows, domain), errors, 60.0))
        assert found.low <= truth <= found.high
        assert found.high - found.low <= 6
        assert found.confidence == pytest.approx(0.85)


@pytest.mark.exhaustive
@pytest.mark.parametrize("selected", ["COUNT(*)", "SUM(hours)", "AVG(hours)", "MEDIAN(hours)", "QUANTILE(age, 0.8)"])
def test_intervals_hold_as_often_as_they_say(selected):
    """Normal noise with its own margin, fresh for each question, as a session has it; by chance below once in 10^5."""
    generator, runs = np.random.default_rng(3), 300
    statement = f"SELECT {selected} FROM t WHERE ill OR region <> 'north'"
    select = parse_select(statement, DOMAIN)
    truth, held = asked(statement, COUNTS)[()][0], 0
    for _ in range(runs):
        answers: dict[bytes, float] = {}

        def ask(query, answers=answers):
            noise = answers.setdefault(query.weights.tobytes() + str(query.columns).encode(), generator.normal(0, 3))
            return Known(float(query.total(COUNTS)) / query.denominator + noise, 1.96 * 3)

        found = estimate(select.aggregates[0], select.condition, DOMAIN, ask)
        held += found.low - 1e-6 <= truth <= found.high + 1e-6
    assert held >= runs * found.confidence - 4.3 * np.sqrt(runs * found.confidence * (1 - found.confidence))


def test_nothing_is_promised_where_an_answer_promises_nothing():
    for selected in ("COUNT(*)", "SUM(hours)", "AVG(hours)", "MEDIAN(hours)"):
        select = parse_select(f"SELECT {selected} FROM t", DOMAIN)
        found = estimate(select.aggregates[0], None, DOMAIN, noisy(COUNTS, (0,), None))
        assert found.value is not None
        assert (found.low, found.high, found.confidence) == (None, None, None)


def test_no_row_has_no_average():
    select = parse_select("SELECT AVG(hours), MEDIAN(hours), SUM(hours) FROM t WHERE hours = 2", DOMAIN)
    average, median, total = (
        estimate(part, select.condition, DOMAIN, lambda query: Known(0.0, 3.0)) for part in select.aggregates
    )
    assert (average.value, median.value, total.value) == (None, None, 0.0)
    assert (average.low, average.high) == (2.0, 2.0)


@pytest.mark.exhaustive
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), tree=trees())
def test_the_price_is_never_exceeded(seed, tree):
    statement = f"SELECT COUNT(*), SUM(hours), AVG(age), MEDIAN(age), QUANTILE(hours, 0.9) FROM t WHERE {tree[0]}"
    select = parse_select(statement, DOMAIN)
    generator, questions = np.random.default_rng(seed), []

    def ask(query):
        questions.append(query)
        assert query.weights.any()
        return Known(float(generator.integers(0, 40)), 2.0)

    for part in select.aggregates:
        before = len(questions)
        estimate(part, select.condition, DOMAIN, ask)
        assert len(questions) - before <= most_questions(part, DOMAIN)
    assert len(questions) <= most_asked(select, DOMAIN)


def test_only_groups_that_can_be_are_asked_in_the_order_that_was_written():
    select = parse_select(
        "SELECT COUNT(*) FROM t WHERE region IN ('north', 'it''s') AND ill GROUP BY region, ill", DOMAIN
    )
    assert [group.labels for group in groups_of(select, DOMAIN)] == [("north", "true"), ("it's", "true")]
    select = parse_select("SELECT COUNT(*) FROM t WHERE NOT ill GROUP BY ill, age", DOMAIN)
    ages = ["0 to 2", "3 to 5", "6 to 8", "9 to 11", "missing"]
    assert [group.labels for group in groups_of(select, DOMAIN)] == [("false", age) for age in ages]


def test_too_much_is_refused_before_it_is_laid_out():
    wide = Domain((*(Integers(name=name, low=0, high=99) for name in "ab"), Categories(name="c", values=tuple("xyz"))))
    with pytest.raises(BadParameter, match="10,000 groups would take up to 10,000 questions, and at most 200"):
        groups_of(parse_select("SELECT COUNT(*) FROM t GROUP BY a, b", wide), wide)
    fits = parse_select("SELECT AVG(b) FROM t WHERE a < 80 AND c = x GROUP BY a, c", wide)
    assert len(groups_of(fits, wide)) * most_asked(fits, wide) == 160 <= MOST_QUESTIONS
    large = Domain(
        (*(Integers(name=name, low=0, high=999) for name in "ab"), Categories(name="c", values=tuple("xyz")))
    )
    select = parse_select("SELECT AVG(a), AVG(b), MEDIAN(a) FROM t WHERE a + b >= 7 GROUP BY c", large)
    with pytest.raises(BadParameter, match="combinations, and at most 33,554,432 are laid out at once"):
        groups_of(select, large)
    with pytest.raises(BadParameter, match="no possible record"):
        groups_of(parse_select("SELECT COUNT(*) FROM t WHERE a < 5 AND a > 5", large), large)
