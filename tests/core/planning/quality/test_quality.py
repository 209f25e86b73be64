"""A release beside its table: distances, associations and the score, against figures worked out by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.planning.quality import groups
from core.planning.quality.quality import association, distance, judge
from core.schema.domain import Categories, Dates, Domain, Integers
from core.table.counts import Cells

ROOT = Path(__file__).parents[4]
TWO = Domain((Categories(name="a", values=("x", "y")), Categories(name="b", values=("u", "v"))))


def test_a_release_that_is_the_table_scores_100():
    table = Cells(TWO, np.array([[30, 10], [20, 40]]))
    found = judge(table, table)
    assert found.score == pytest.approx(100)
    assert found.lost() is None
    [pair] = found.pairs
    assert pair.distance == 0
    assert pair.truth == pair.released == pytest.approx(association(np.array([[0.3, 0.1], [0.2, 0.4]])), abs=0.02)


def test_the_score_counts_rows_that_would_have_to_be_moved():
    truth, given = Cells(TWO, np.array([[30, 10], [20, 40]])), Cells(TWO, np.array([[25, 15], [20, 40]]))
    found = judge(truth, given)
    assert found.score == pytest.approx(95), "5 of 100 rows are in the wrong cell"
    assert [column.distance for column in found.columns] == pytest.approx([0, 0.05])
    # 40/60 rows and 50/50 columns: independent cells would be 20, 20, 30, 30.
    assert found.pairs[0].alone == pytest.approx(0.2)
    assert "5.0 of 100 rows" in found.meaning()


def test_associations_that_vanish_are_told():
    truth = Cells(TWO, np.array([[450, 50], [50, 450]]))
    found = judge(truth, Cells(TWO, np.full((2, 2), 250)))
    assert found.pairs[0].truth == pytest.approx(0.8, abs=0.01)
    assert found.pairs[0].released == pytest.approx(0)
    assert "Lost in the noise: 1 of 1 notable association between" in (found.lost() or "")
    assert "a and b" in (found.lost() or "")


def test_chance_is_no_association():
    """The bias-corrected V of independent columns is far below what the plain one shows in a small table."""
    generator = np.random.default_rng(1)
    wide = Domain((Integers(name="a", low=0, high=9), Integers(name="b", low=0, high=9)))
    table = Cells(wide, generator.multinomial(200, np.full(100, 0.01)).reshape(10, 10))
    [pair] = judge(table, table).pairs
    plain = association(table.cells / table.cells.sum())
    assert plain > 0.15
    assert pair.truth < plain / 2
    assert not pair.notable


def test_another_sample_is_as_far_as_expected():
    """The expected distance of a sample, against 400 samples: its standard error is below 2 %."""
    generator = np.random.default_rng(2)
    shares = generator.dirichlet(np.ones(4))
    truth = Cells(TWO, np.round(10_000 * shares).astype(np.int64).reshape(2, 2))
    own = truth.cells / truth.cells.sum()
    drawn = [distance(own.ravel(), generator.multinomial(10_000, own.ravel()) / 10_000) for _ in range(400)]
    assert judge(truth, truth).pairs[0].sampled == pytest.approx(float(np.mean(drawn)), rel=0.1)


def test_noise_below_nothing_counts_as_nothing():
    class Noisy:
        domain = TWO

        def marginal(self, columns):
            return np.array([-5.0, 100.0]) if len(columns) == 1 else np.array([[-5.0, 0.0], [50.0, 50.0]])

    assert groups.shares(Noisy(), ["a"]) == pytest.approx([0, 1])


def test_groups_keep_order_and_what_is_missing():
    fine = Integers(name="n", low=0, high=99, missing=True)
    found = groups.groups_of(fine)
    assert len(found) == 101 and found[-1] == groups.MOST_RANGES
    assert (np.diff(found) >= 0).all()
    assert groups.labels_of(fine)[0] == "0 … 6" and groups.labels_of(fine)[-1] == "missing"
    many = Categories(name="c", values=tuple(range(50)), other="else")
    assert groups.labels_of(many)[-2:] == ["19 other values", "else"]
    few = Dates(name="d", low="2024-01-01", high="2024-12-31", bins=4)
    assert groups.groups_of(few).tolist() == [0, 1, 2, 3]


def test_exact_figures_enter_no_release():
    """Nothing that packs, writes or serves to visitors can reach the room that compares with the truth."""
    reaching = [
        path.relative_to(ROOT)
        for folder in ("core", "dashboard")
        for path in (ROOT / folder).rglob("*.py")
        if "core.planning.quality" in path.read_text(encoding="utf-8")
    ]
    own, page = Path("core/planning/quality"), Path("dashboard/views/accuracy")
    assert {path.parent for path in reaching} == {own, page}
