from __future__ import annotations

import math

import numpy as np
import pytest

from core.base.errors import BadParameter, Refused
from core.mechanisms.smalldb.candidates import SmallDatabases
from core.mechanisms.smalldb.smalldb import SmallDb
from core.privacy.budget import Budget
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.queries.intervals import Intervals
from core.queries.lipschitz import Lipschitz
from core.queries.marginals import Marginals
from core.schema.domain import Domain, Integers
from core.table.counts import Cells
from core.theory.smalldb import SmallDbBound as Theorem
from tests.core.samples import SMALL, small_counts
from tests.kernels import run

LINE = Domain((Integers(name="x", low=0, high=3),))
INTERVALS = (Intervals(column="x"),)


def chosen(mechanism, domain=LINE):
    return mechanism._choice(domain, Unit.row())


def test_rows_follow_from_the_accuracy():
    for accuracy in (0.1, 0.25, 0.4):
        rows = chosen(SmallDb(queries=INTERVALS, budget=Budget(1), accuracy=accuracy)).rows
        assert 2 * 10 * math.exp(-2 * rows * accuracy**2) < 1
        assert rows <= math.log(10) / accuracy**2 + 1


def test_a_small_dimension_needs_fewer_rows_than_many_questions():
    class Endless(Intervals):
        """Two thousand bits' worth of intervals, still of dimension 2."""

        def log_size(self, domain):
            return 1300.0

    mechanism = SmallDb(queries=(Endless(column="x"),), budget=Budget(1), accuracy=0.3)
    many = SmallDb(queries=(Endless(column="x"), *INTERVALS), budget=Budget(1), accuracy=0.3)
    domain = Domain((Integers(name="x", low=0, high=999_999),))
    held = [SmallDatabases(each.queries, domain) for each in (mechanism, many)]
    assert mechanism._enough(held[0], 0.3) < many._enough(held[1], 0.3)


def test_the_method_follows_from_the_size():
    assert chosen(SmallDb(queries=INTERVALS, budget=Budget(1))).method == "enumerate"
    pairs = (Marginals(order=2),)
    assert chosen(SmallDb(queries=pairs, budget=Budget(1)), SMALL).method == "search"
    assert chosen(SmallDb(queries=pairs, budget=Budget(1), rows=5), SMALL).method == "enumerate"
    listed = chosen(SmallDb(queries=pairs, budget=Budget(1), method="enumerate"), SMALL)
    assert listed.width <= 10**7 < math.comb(24 + listed.rows, listed.rows + 1)
    listed.check(asked=True)


def test_the_theorem_holds_at_its_own_parameters():
    """n >= (16 ln|X| ln|Q|/alpha^2 + 4 ln(1/beta))/(epsilon alpha): all within alpha, except for a share beta."""
    theorem = Theorem(log_universe=math.log(4), log_queries=math.log(10))
    alpha, epsilon = 0.5, 1.0
    rows = theorem.rows(alpha, epsilon)
    mechanism = SmallDb(queries=INTERVALS, budget=Budget(epsilon), method="enumerate", rows=theorem.size(alpha))
    generator = np.random.default_rng(6)
    failures = 0
    for _ in range(30):
        table = generator.multinomial(rows, generator.dirichlet(np.full(4, 0.4)))
        counts = Cells(LINE, table, Unit.row("replace"))
        failures += INTERVALS[0].worst(counts, run(mechanism, counts, Noise())) > alpha
    # With failure probability at most 0.05, more than six of thirty happen less than once in a thousand times.
    assert failures <= 6


def test_more_rows_and_a_search_come_closer_than_chance():
    counts = small_counts(20_000)
    query = Marginals(order=2)
    mechanism = SmallDb(queries=(query,), budget=Budget(4))
    errors = [query.worst(counts, run(mechanism, counts, Noise())) for _ in range(5)]
    assert np.mean(errors) < 0.09
    # A single random database, which one round with one proposal nearly is, misses far more.
    blind = SmallDb(queries=(query,), budget=Budget(4), method="search", rounds=1, proposals=1)
    assert np.mean([query.worst(counts, run(blind, counts, Noise())) for _ in range(5)]) > 2 * np.mean(errors)


def test_a_delta_and_several_classes_work():
    counts = small_counts(2_000, Unit.id("person", 3))
    mechanism = SmallDb(queries=(Marginals(order=1), Intervals(column="size")), budget=Budget(2, 1e-6))
    released = run(mechanism, counts, Noise())
    assert released.total > 0
    assert released.sample(100, np.random.default_rng(0)).shape == (100, 3)


@pytest.mark.parametrize(
    ("options", "parameter"),
    [
        ({"accuracy": 1.0}, "accuracy"),
        ({"accuracy": -0.1}, "accuracy"),
        ({"accuracy": True}, "accuracy"),
        ({"accuracy": 0.2, "rows": 5}, "rows"),
        ({"rows": -1}, "rows"),
        ({"rows": 10**6}, "rows"),
        ({"method": "walk"}, "method"),
        ({"members": 1}, "members"),
        ({"rounds": 0}, "rounds"),
        ({"proposals": 0}, "proposals"),
    ],
)
def test_bad_options_are_named(options, parameter):
    with pytest.raises(BadParameter) as caught:
        SmallDb(queries=INTERVALS, budget=Budget(1), **options)
    assert caught.value.parameter == parameter


def test_too_fine_an_accuracy_names_one_that_works():
    with pytest.raises(BadParameter, match=r"use 0\.0\d+ or more") as caught:
        SmallDb(queries=INTERVALS, budget=Budget(1), accuracy=0.001).check(LINE, Unit.row())
    works = float(str(caught.value).split("use ")[1].split(" ")[0])
    assert SmallDb(queries=INTERVALS, budget=Budget(1), accuracy=works)._choice(LINE, Unit.row()).rows <= 10_000


def test_questions_that_are_not_linear_are_refused():
    with pytest.raises(Refused, match="lipschitz"):
        SmallDb(queries=(Lipschitz(columns=("x",)),), budget=Budget(1)).check(LINE, Unit.row())
