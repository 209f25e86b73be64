"""Replaying a mechanism on neighbouring tables, with domains that suit intervals and rectangles."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from core.models import tables as tables_model
from core.privacy import accounting
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.schema.domain import Booleans, Domain, Integers
from core.table.counts import Cells
from tests.accounts import part_of
from tests.kernels import run
from tests.privacy.kit.recorder import Recorder

LINE = Domain((Integers(name="x", low=0, high=29, missing=True), Booleans(name="ill")))
PLANE = Domain((Integers(name="x", low=0, high=8), Integers(name="y", low=0, high=5), Booleans(name="ill")))
BUDGETS = (Budget(1), Budget(1, 1e-6))
UNITS = (Unit.row(), Unit.row("replace"), Unit.id("person", 3), Unit.id("person", 3, "replace"))


def neighbours(domain: Domain, unit: Unit, generator: np.random.Generator) -> tuple[Cells, Cells]:
    """Two tables that differ by one unit; half of the time the unit's rows all fall into one cell."""
    shape = domain.cells()
    common = generator.integers(0, 40, shape) * (generator.random(shape) < 0.3)
    more, other = _rows(unit, shape, generator), _rows(unit, shape, generator)
    while unit.public_rows and more.sum() != other.sum():
        other = _rows(unit, shape, generator)
    if unit.neighbours == "add-remove":
        other = np.zeros_like(other)
    return Cells(domain, common + other, unit), Cells(domain, common + more, unit)


def _rows(unit: Unit, cells: int, generator: np.random.Generator) -> np.ndarray:
    if generator.random() < 0.5:
        return np.bincount([generator.integers(cells)] * unit.limit, minlength=cells)
    return np.bincount(generator.integers(0, cells, generator.integers(1, unit.limit + 1)), minlength=cells)


def check_private(mechanism, domain: Domain, unit: Unit, monkeypatch, pairs: int = 12) -> None:
    """Replay on neighbours, and compare what was asked with the declared cost and the budget."""
    monkeypatch.setattr(tables_model, "FEWEST_POINTS", 100)
    monkeypatch.setattr(tables_model, "MOST_POINTS", 100)
    mechanism.check(domain, unit)
    declared = mechanism.cost(domain, unit)
    budget = mechanism.budget
    assert part_of(budget, declared) <= 1
    generator = np.random.default_rng(5)
    reached = 0.0
    for pair in range(pairs):
        first, second = neighbours(domain, unit, generator)
        recorded = Recorder(pair)
        one = run(mechanism, first, recorded)
        replayed = Recorder(pair, recorded.calls)
        two = run(mechanism, second, replayed)
        assert len(recorded.calls) == len(replayed.calls) > 0
        for before, after in zip(recorded.calls, replayed.calls, strict=True):
            assert (before.kind, before.amount, before.sensitivity) == (after.kind, after.amount, after.sensitivity)
            assert before.distance(after) <= before.sensitivity
            reached = max(reached, before.distance(after) / before.sensitivity)
        assert one.total == two.total
        for columns in ((), *((name,) for name in domain.names), domain.names):
            assert np.array_equal(one.marginal(columns), two.marginal(columns)), columns
        asked = recorded.cost()
        for order in (Fraction(3, 2), Fraction(64)) if not budget.pure else (None,):
            assert accounting.units(declared, order) >= accounting.units(asked, order)
    # The declared sensitivity is tight: half of it would fail above.
    assert reached == 1
