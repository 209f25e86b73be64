"""Unusual tables through the desk: each gives a valid release of all ticked classes, or a refusal with the reason."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core import Budget, Desk, Domain, Unit
from core.base.errors import DeskError
from core.models import tables as tables_model
from core.queries.halfspaces import Halfspaces
from core.queries.intervals import Intervals
from core.queries.marginals import Marginals
from core.queries.rectangles import Rectangles
from core.schema.domain import Booleans, Categories, Integers, Reals

ZERO, SOME = Budget(1), Budget(1, 1e-9)
GENERATOR = np.random.default_rng(0)
MIXED = Domain(
    (
        Integers(name="pay", low=0, high=2**16 - 1, missing=True),
        Reals(name="height", low=1.0, high=2.2, bins=60),
        Integers(name="age", low=0, high=99),
        Booleans(name="ill"),
    )
)
ALL = (
    Marginals(order=2),
    Intervals(column="pay", bits=8),
    Rectangles(columns=("height", "age"), bits=4),
    Halfspaces(columns=("pay", "height"), directions=8),
)


def mixed(rows: int) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "person": np.arange(rows) // 5,
            "pay": pd.array(GENERATOR.integers(0, 2**16, rows), dtype="Int64"),
            "height": GENERATOR.uniform(1.0, 2.2, rows),
            "age": GENERATOR.integers(0, 100, rows),
            "ill": GENERATOR.random(rows) < 0.3,
        }
    )


@pytest.fixture(autouse=True)
def few_points(monkeypatch, small_trials):
    """Of the records and of the trials that a plan is told with: these tests are about what is released."""
    monkeypatch.setattr(tables_model, "FEWEST_POINTS", 500)
    monkeypatch.setattr(tables_model, "MOST_POINTS", 5_000)


@pytest.fixture
def desk(tmp_path):
    desk = Desk(tmp_path / "workspace")
    yield desk
    desk.close()


def released(desk, frame, domain, queries, budget=SOME, unit=None, records=None):
    held = desk.add_table(frame, domain, unit=unit or Unit.row(), budget=Budget(200, budget.delta), name="table")
    return desk.release(desk.plan(held, queries, mechanism="tree", budget=budget, records=records))


def check(release, domain, queries) -> None:
    frame = release.records()
    assert len(frame) >= 1 and set(frame.columns) == set(domain.names)
    for query in queries:
        answers = query.answers(release)
        assert np.isfinite(answers).all() and answers.min() >= -1e-9 and answers.max() <= 1.001
    assert all(np.isfinite(table).all() and table.min() >= 0 for table in release.tables.values())


SHAPES = {
    "one column": (Domain((Integers(name="x", low=0, high=9),)), (Marginals(order=1), Intervals(column="x"))),
    "constant columns": (
        Domain((Categories(name="k", values=("only",)), Integers(name="x", low=3, high=3), Booleans(name="b"))),
        (Marginals(order=2), Intervals(column="x"), Halfspaces(columns=("x",), directions=2)),
    ),
    "one constant column": (Domain((Categories(name="k", values=("only",)),)), (Marginals(order=1),)),
    "100,000 categories": (
        Domain((Categories(name="code", values=tuple(range(100_000))), Booleans(name="b"))),
        (Marginals(order=2),),
    ),
    "100 columns": (Domain(tuple(Booleans(name=f"b{place}") for place in range(100))), (Marginals(order=2),)),
}


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=1)
@pytest.mark.parametrize("rows", [1, 300])
@pytest.mark.parametrize("shape", SHAPES)
def test_unusual_schemas(desk, shape, rows):
    if shape == "100 columns" and rows == 1:
        rows = 20
    domain, queries = SHAPES[shape]
    codes = GENERATOR.integers(0, domain.sizes, (rows, len(domain)))
    check(released(desk, domain.decode(codes, GENERATOR), domain, queries), domain, queries)


@pytest.mark.exhaustive
@pytest.mark.parametrize("rows", [1, 2_000])
@pytest.mark.parametrize("budget", [ZERO, SOME, Budget(1e-6), Budget(1e-6, 1e-9), Budget(100, 1e-9)], ids=str)
def test_all_classes_at_any_budget(desk, budget, rows):
    check(released(desk, mixed(rows)[list(MIXED.names)], MIXED, ALL, budget, records=500), MIXED, ALL[1:])


@pytest.mark.exhaustive
@pytest.mark.parametrize("unit", [Unit.row("replace"), Unit.id("person", 3), Unit.id("person", 3, "replace")], ids=str)
@pytest.mark.parametrize("budget", [ZERO, SOME], ids=str)
def test_all_units(desk, unit, budget):
    frame = mixed(2_000) if unit.column else mixed(2_000)[list(MIXED.names)]
    release = released(desk, frame, MIXED, ALL, budget, unit)
    check(release, MIXED, ALL[1:])
    if unit.public_rows:
        assert len(release.records()) == 2_000


@pytest.mark.parametrize("queries", [(query,) for query in ALL] + [ALL], ids=lambda queries: queries[-1].name)
def test_a_table_without_rows_is_released_like_any_other_or_refused_when_it_is_added(desk, queries):
    try:
        release = released(desk, mixed(0)[list(MIXED.names)], MIXED, queries)
    except DeskError as refusal:
        assert str(refusal).endswith(".")
        return
    assert len(release.records()) >= 1


@pytest.mark.exhaustive
@pytest.mark.parametrize("rows", [1, 20_000])
def test_any_number_of_records(desk, rows):
    release = released(desk, mixed(2_000)[list(MIXED.names)], MIXED, ALL, records=rows)
    assert len(release.records()) == rows
    check(release, MIXED, ALL[1:])


@pytest.mark.exhaustive
def test_answers_come_from_tables_where_they_are_better_and_the_certificate_says_so(desk):
    """Few columns and a large budget: what was measured is nearer to the truth than any whole rows drawn from it."""
    generator = np.random.default_rng(1)
    names = [f"c{place}" for place in range(7)]
    domain = Domain(tuple(Categories(name=name, values=tuple("abcdef")) for name in names))
    codes = generator.integers(0, 6, (2_000, 7))
    for place in range(1, 7):
        same = generator.random(2_000) < 0.5
        codes[same, place] = codes[same, place - 1]
    pairs = Marginals(order=2)
    release = released(desk, domain.decode(codes), domain, (pairs,), Budget(10, 1e-9), records=300)
    truth = np.concatenate([_shares(codes, left, right) for left in range(7) for right in range(left + 1, 7)])
    answers = np.abs(release.answers(pairs) - truth).mean()
    records = np.abs(pairs.answers(release.points) - truth).mean()
    assert answers < 0.8 * records
    assert "tables" in release.certificate.answers_from and "records" in release.certificate.answers_from
    assert any(len(columns) == 2 for columns in release.tables)


def _shares(codes: np.ndarray, left: int, right: int) -> np.ndarray:
    return np.bincount(codes[:, left] * 6 + codes[:, right], minlength=36) / len(codes)


def test_halfspaces_of_a_release_are_read_off_its_records_where_no_table_can_hold_them(desk):
    domain = Domain(tuple(Integers(name=name, low=0, high=999) for name in "xyz"))
    frame = pd.DataFrame(np.random.default_rng(2).integers(0, 1_000, (800, 3)), columns=list("xyz"))
    planes = Halfspaces(columns=tuple("xyz"), directions=16)
    release = released(desk, frame, domain, (planes,), Budget(20, 1e-9))
    assert np.abs(release.answers(planes) - planes.answers(release.points)).max() < 1e-9
    assert 0.3 < release.answers(planes).mean() < 0.7
