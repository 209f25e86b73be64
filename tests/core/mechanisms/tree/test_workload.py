from __future__ import annotations

from fractions import Fraction

import pytest

from core.base.errors import DeskError, Refused
from core.mechanisms.kit.portions import Portion
from core.mechanisms.kit.spending import Spending
from core.mechanisms.tree.budget import COUNT, FEWEST, MOST, SCORES, Split, foreseen, split_for
from core.mechanisms.tree.tree import Tree
from core.mechanisms.tree.workload import FAVOUR, WIDE, Workload, admit
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.conjunctions import Conjunctions
from core.queries.counting import Counting
from core.queries.halfspaces import Halfspaces
from core.queries.intervals import Intervals
from core.queries.linear import Linear
from core.queries.lipschitz import Lipschitz
from core.queries.marginals import Marginals
from core.queries.parities import Parities
from core.queries.rectangles import Rectangles
from core.queries.unions import Unions
from core.schema.domain import Booleans, Categories, Domain, Integers

DOMAIN = Domain(
    (
        Integers(name="age", low=0, high=99),
        Integers(name="pay", low=0, high=65_535),
        Integers(name="hours", low=0, high=49),
        Booleans(name="ill"),
        Categories(name="job", values=tuple(range(6))),
    )
)
MARGINALS = Marginals(order=2, columns=("age", "ill", "job"))


def workload(*queries) -> Workload:
    return Workload.of(queries, DOMAIN)


def test_classes_are_sorted_by_the_way_they_are_measured():
    asked = workload(
        MARGINALS,
        Intervals(column="pay"),
        Unions(column="hours", parts=2),
        Rectangles(columns=("age", "hours")),
        Halfspaces(columns=("hours", "age"), directions=8),
    )
    assert asked.tables == {("age", "ill"): 1, ("age", "job"): 1, ("ill", "job"): 1, ("age", "hours"): 1}
    assert asked.ranges == {("pay",): 1, ("hours",): 1.125, ("age", "hours"): 1, ("age",): 0.125}
    assert [query.name for query in asked.planes] == ["halfspaces"]
    assert asked.involved() == ["age", "pay", "hours", "ill", "job"]
    assert set(asked.nested()) == set(asked.ranges)


def test_only_what_is_asked_is_involved_and_wide_columns_are_counted_in_levels():
    assert workload(Intervals(column="hours")).involved() == ["hours"]
    assert workload(Halfspaces(columns=("age",), directions=2)).tables == {("age",): 1}
    assert DOMAIN["age"].size <= WIDE < DOMAIN["pay"].size
    assert workload(Marginals(order=1)).nested() == [("pay",)]
    assert workload(MARGINALS).nested() == []


@pytest.mark.parametrize(
    ("queries", "parts"),
    [
        ((MARGINALS,), (1, 0, 0)),
        ((Intervals(column="age"),), (0, 1, 0)),
        ((MARGINALS, Intervals(column="age")), (Fraction(2, 3), Fraction(1, 3), 0)),
        ((Halfspaces(columns=("age", "pay")),), (Fraction(2, 3), 0, Fraction(1, 3))),
        ((MARGINALS, Intervals(column="age"), Halfspaces()), (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))),
    ],
)
def test_every_ticked_kind_has_its_share_and_nothing_is_lost(queries, parts):
    asked = workload(*queries)
    assert tuple(asked.parts(Fraction(1)).values()) == parts
    for columns in (Fraction(3, 10), Fraction(11, 20)):
        split = Split.of(asked, columns)
        assert split.columns + split.ranges + split.planes + 2 * split.scores + split.rest == 1 - COUNT
        assert min(split.columns, split.ranges, split.planes, split.scores, split.rest) >= 0


def test_tables_alone_keep_the_shares_that_were_tuned_for_them():
    split = Split.of(workload(MARGINALS), Fraction(3, 10))
    assert (split.columns, split.scores, split.ranges, split.planes) == (Fraction(3, 10), SCORES, 0, 0)


@pytest.mark.parametrize("budget", [Budget(1), Budget(1, 1e-9)])
def test_events_of_columns_and_ranges_add_up(budget):
    asked = workload(MARGINALS, Intervals(column="pay"), Rectangles(columns=("age", "hours")))
    spending, split = Spending.of(budget, Unit.row()), Split.of(asked, Fraction(3, 10))
    events = split.events(spending, asked)
    amounts = [event.epsilon if budget.pure else event.rho for event in events.values()]
    assert sum(amounts) == spending.whole * (split.columns + split.ranges)
    assert set(events) == {("age",), ("pay",), ("hours",), ("ill",), ("job",), ("age", "hours")}


@pytest.mark.parametrize("budget", [Budget(1), Budget(1, 1e-9)])
def test_single_columns_get_more_the_fewer_rows_there_are_and_nothing_is_lost(budget):
    spending, asked = Spending.of(budget, Unit.row()), workload(MARGINALS)
    splits = [split_for(spending, asked, rows) for rows in (-50, 1, 1e3, 1e5, 1e7)]
    parts = [split.columns for split in splits]
    assert parts == sorted(parts, reverse=True) and parts[0] == MOST and parts[-1] == FEWEST
    for split in splits:
        assert split.columns + 2 * split.scores + split.rest == 1 - COUNT and split.rest > 0


def test_the_number_of_rows_gets_a_part_where_columns_do_not_tell_it():
    asked = workload(MARGINALS)
    split = Split.of(asked, Fraction(3, 10))
    assert 0 < split.rows(Spending.of(Budget(1, 1e-9), Unit.row()), asked) < split.columns / 4
    assert split.rows(Spending.of(Budget(1, 1e-9), Unit.row("replace")), asked) == 0
    ages = workload(Marginals(order=1, columns=("age",)))
    assert Split.of(ages, Fraction(3, 10)).rows(Spending.of(Budget(1), Unit.row()), ages) == 0


@pytest.mark.parametrize(
    "query",
    [
        Conjunctions(order=1, columns=("ill",)),
        Parities(columns=("ill",)),
        Counting(conditions=((("job", (0, 2)), ("ill", (1,))),)),
        Linear(columns=("job",), weights=((0, 1, 2, 3, 4, 4),), whole=4),
    ],
    ids=lambda query: query.name,
)
def test_other_classes_are_served_through_their_tables(query):
    Tree(queries=(query,), budget=Budget(1)).check(DOMAIN, Unit.row())
    assert set(workload(query).tables) == set(query.tables(DOMAIN))


def test_what_cannot_be_served_is_refused_by_name_with_what_to_use():
    many = Domain(tuple(Booleans(name=f"b{place}") for place in range(18)))
    with pytest.raises(Refused, match=r"Parities of 18 columns.*262,144 cells.*20,000.*'histogram'"):
        admit(Parities(columns=many.names), many)
    with pytest.raises(DeskError, match=r"'lipschitz' is not linear.*'iterative-median'"):
        Tree(queries=(Lipschitz(columns=("job",), statistics=(("largest",),)),), budget=Budget(1)).check(
            DOMAIN, Unit.row()
        )
    wide = Domain(tuple(Integers(name=name, low=0, high=2_999) for name in "xy"))
    with pytest.raises(Refused, match=r"Ranges of x x y have 9,000,000 cells.*'rectangle-tree'"):
        Workload.of((Rectangles(columns=("x", "y")),), wide).check()


@pytest.mark.parametrize("budget", [Budget(1), Budget(1, 1e-9)])
def test_foreseen_errors_name_what_they_cover_and_fall_with_the_budget(budget):
    asked = workload(MARGINALS, Intervals(column="pay"), Halfspaces(columns=("age", "hours")))
    found = foreseen(Spending.of(budget, Unit.row()), asked)
    richer = foreseen(Spending.of(Budget(10, budget.delta), Unit.row()), asked)
    assert 0 < richer.mean < found.mean <= found.worst and richer.worst < found.worst
    for words in ("single column", "of a pair if all pairs", "random range", "halfspace", "inferred"):
        assert words in found.about
    ranges = foreseen(Spending.of(budget, Unit.row()), workload(Intervals(column="pay")))
    assert "pair" not in ranges.about and "halfspace" not in ranges.about


def test_a_target_has_more_weight_and_triples_that_nobody_asked_for():
    asked = workload(Marginals(order=2))
    assert asked.favouring(None, ()) is asked
    favoured = asked.favouring("ill", ())
    assert favoured.asked() == asked.asked()
    assert favoured.involved() == asked.involved()
    for columns, weight in asked.tables.items():
        assert favoured.tables[columns] == weight * (FAVOUR if "ill" in columns and len(columns) > 1 else 1)
    assert favoured.added and all("ill" in columns and len(columns) == 3 for columns in favoured.added)
    grouped = asked.favouring("ill", ("job",))
    assert grouped.added == {columns for columns in favoured.added if "job" in columns}
    assert all(grouped.tables[columns] >= FAVOUR for columns in asked.tables if len(columns) > 1 and "job" in columns)
    groups = asked.favouring(None, ("job",))
    assert not groups.added
    ranges = workload(Intervals(column="pay"))
    assert ranges.favouring("ill", ()) is ranges


@pytest.mark.parametrize("budget", [Budget(2), Budget(2, 1e-9)])
def test_foreseen_noise_of_a_pair_bounds_what_a_measured_one_gets(budget):
    """The fewer pairs are measured, the less noise: here two columns, so the one pair gets exactly the figure."""
    asked = Workload.of((Marginals(order=2, columns=("ill", "job")),), DOMAIN)
    spending = Spending.of(budget, Unit.row())
    split = Split.of(asked, Fraction(3, 10))
    (pair,) = spending.split({("ill", "job"): 1.0}, split.rest / 2)
    columns = split.events(spending, asked)
    parts = [pair, *(Portion(key, event) for key, event in columns.items())]
    cells = [12, 2, 6]
    wanted = sum(size * part.level(Unit.row()).mean_error for size, part in zip(cells, parts, strict=True)) / sum(cells)
    assert foreseen(spending, asked).mean == pytest.approx(wanted)


def test_hundreds_of_columns_are_refused_in_words_at_once():
    domain = Domain(tuple(Booleans(name=f"q{place}") for place in range(500)))
    everything = Tree(queries=(Marginals(order=2),), budget=Budget(epsilon=1, delta=1e-9))
    with pytest.raises(DeskError, match=r"over 20,000 tables; choose fewer columns or a lower order"):
        everything.check(domain, Unit.row())
    by_cell = Tree(queries=(Marginals(order=1),), budget=Budget(epsilon=1, delta=1e-9))
    by_cell.check(domain, Unit.row())
