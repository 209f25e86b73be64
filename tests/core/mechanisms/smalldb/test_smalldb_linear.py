from __future__ import annotations

import math

import numpy as np
import pytest

from core.base.errors import BadParameter
from core.mechanisms.smalldb.smalldb_linear import SmallDbLinear
from core.privacy.budget import Budget
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.queries.linear import Linear
from core.schema.domain import Domain, Integers
from core.table.counts import Cells
from core.theory.smalldb import SmallDbLinearBound as Theorem
from tests.kernels import run

LINE = Domain((Integers(name="x", low=0, high=3),))
WEIGHTED = (Linear(columns=("x",), weights=((0, 2, 5, 8), (8, 1, 7, 0), (3, 3, 0, 1), (8, 8, 8, 8)), whole=8),)


def rows_of(**options):
    return SmallDbLinear(queries=WEIGHTED, budget=Budget(1), **options)._choice(LINE, Unit.row()).rows


def test_rows_follow_from_the_accuracy():
    rows = rows_of(accuracy=0.2)
    assert 2 * 4 * math.exp(-2 * rows * 0.2**2) < 1 <= 2 * 4 * math.exp(-2 * (rows - 1) * 0.2**2)


def test_the_papers_formula_takes_the_dimension_at_a_fifth_of_the_accuracy():
    accuracy, constant = 0.25, 0.5
    dimension = WEIGHTED[0].fat(LINE, accuracy / 5).high
    formula = constant * (dimension * math.log(1 / accuracy) ** 2 + math.log(2)) / accuracy**2
    assert rows_of(accuracy=accuracy, constant=constant) == math.ceil(formula)


def test_a_bad_constant_is_named():
    with pytest.raises(BadParameter, match="constant"):
        SmallDbLinear(queries=WEIGHTED, budget=Budget(1), constant=-1)


def test_relative_usefulness_at_the_theorems_parameters():
    """Every total within alpha |D| although |D| is private; a slice of the budget measures it."""
    theorem = Theorem(log_universe=math.log(4), log_queries=math.log(4))
    alpha, epsilon = 0.5, 1.0
    rows = theorem.rows(alpha, epsilon)
    mechanism = SmallDbLinear(queries=WEIGHTED, budget=Budget(epsilon), method="enumerate", rows=theorem.size(alpha))
    generator = np.random.default_rng(7)
    failures = 0
    for _ in range(30):
        table = generator.multinomial(rows, generator.dirichlet(np.full(4, 0.4)))
        counts = Cells(LINE, table, Unit.row())
        released = run(mechanism, counts, Noise())
        errors = np.abs(WEIGHTED[0].totals(counts) - WEIGHTED[0].totals(released)) / 8
        failures += errors.max() > alpha * rows
    assert failures <= 6


def test_the_release_is_scaled_to_a_measured_number_of_rows():
    counts = Cells(LINE, (500, 300, 150, 50), Unit.row())
    mechanism = SmallDbLinear(queries=WEIGHTED, budget=Budget(20), rows=20)
    released = run(mechanism, counts, Noise())
    assert released.total == pytest.approx(1000, abs=30)
    assert len(released.codes) == 20
    assert WEIGHTED[0].worst(counts, released) < 0.05
