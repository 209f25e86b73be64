"""The same checks for every registered mechanism, whatever it is."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from core import accounting, registry
from core.counts import Cells
from core.errors import DeskError
from core.models import tables as tables_model
from core.privacy import Budget, Unit
from core.queries.marginals import Marginals
from tests.core.recorder import Recorder
from tests.core.samples import SMALL

PAIRS = 200
BUDGETS = (Budget(1), Budget(1, 1e-6))
UNITS = (Unit.row(), Unit.row("replace"), Unit.id("person", 3), Unit.id("person", 3, "replace"))
QUERIES = ((Marginals(order=2),), (Marginals(order=1), Marginals(order=3)))


def cases():
    for name, kind in registry.mechanisms.items():
        offered = 0
        for budget in BUDGETS:
            for unit in UNITS:
                for queries in QUERIES:
                    mechanism = kind(queries=queries, budget=budget)
                    try:
                        mechanism.check(SMALL, unit)
                    except DeskError:
                        continue
                    offered += 1
                    yield pytest.param(mechanism, unit, id=f"{name}-{budget.pure}-{unit.limit}{unit.neighbours[0]}-{offered}")
        assert offered, f"no case fits {name}: add one"


CASES = list(cases())


def neighbours(unit: Unit, generator: np.random.Generator) -> tuple[Cells, Cells]:
    """Two tables that differ by one unit; half of the time the unit's rows all fall into one cell."""
    first = generator.integers(0, 4, SMALL.cells()) * (generator.random(SMALL.cells()) < 0.5)
    second = first + _unit_rows(unit, generator)
    if unit.neighbours == "replace":
        rows = _unit_rows(unit, generator)
        while unit.public_rows and rows.sum() != (second - first).sum():
            rows = _unit_rows(unit, generator)
        first = first + rows
    return Cells(SMALL, first, unit), Cells(SMALL, second, unit)


def _unit_rows(unit: Unit, generator: np.random.Generator) -> np.ndarray:
    rows = int(generator.integers(1, unit.limit + 1))
    cells = generator.integers(0, SMALL.cells(), rows)
    if generator.random() < 0.5:
        cells[:] = cells[0]
        cells = np.repeat(cells[:1], unit.limit)
    return np.bincount(cells, minlength=SMALL.cells())


@pytest.fixture(autouse=True)
def few_points(monkeypatch):
    monkeypatch.setattr(tables_model, "FEWEST_POINTS", 100)
    monkeypatch.setattr(tables_model, "MOST_POINTS", 100)


@pytest.mark.parametrize(("mechanism", "unit"), CASES)
def test_record_and_replay_on_neighbours(mechanism, unit):
    generator = np.random.default_rng(8)
    reached = 0.0
    for pair in range(PAIRS // 4):
        first, second = neighbours(unit, generator)
        recorded = Recorder(pair)
        one = mechanism.run(first, recorded)
        replayed = Recorder(pair, recorded.calls)
        two = mechanism.run(second, replayed)
        assert len(recorded.calls) == len(replayed.calls) > 0
        for before, after in zip(recorded.calls, replayed.calls, strict=True):
            assert (before.kind, before.amount, before.sensitivity) == (after.kind, after.amount, after.sensitivity)
            assert before.hidden.shape == after.hidden.shape
            distance = before.distance(after)
            assert distance <= before.sensitivity
            reached = max(reached, distance / before.sensitivity)
        assert {key: table.shape for key, table in one.tables().items()} == {
            key: table.shape for key, table in two.tables().items()
        }
        assert one.sample(7, np.random.default_rng(0)).shape == two.sample(7, np.random.default_rng(0)).shape == (7, 3)
    # The declared sensitivity is tight: some pair reaches it, so a mechanism that declared half of it would fail here.
    assert reached == 1


@pytest.mark.parametrize(("mechanism", "unit"), CASES)
def test_declared_cost_covers_the_recorded_noise(mechanism, unit):
    recorder = Recorder(0)
    mechanism.run(neighbours(unit, np.random.default_rng(1))[0], recorder)
    declared, asked = mechanism.cost(SMALL, unit), recorder.cost()
    for order in (Fraction(3, 2), Fraction(8), Fraction(64)):
        assert accounting.units(declared, order) >= accounting.units(asked, order)
    if declared.pure:
        assert accounting.units(declared, None) >= accounting.units(asked, None)


@pytest.mark.parametrize(("mechanism", "unit"), CASES)
def test_the_cost_is_within_the_stated_budget(mechanism, unit):
    budget = mechanism.budget
    assert accounting.units(mechanism.cost(SMALL, unit), accounting.order_for(budget)) <= accounting.capacity(budget)


@pytest.mark.parametrize(("mechanism", "unit"), CASES)
def test_expected_error_is_a_finite_number_of_rows(mechanism, unit):
    expected = mechanism.expected(SMALL, unit)
    assert 0 < expected.mean <= expected.worst < float("inf")
    assert "rows" in expected.sentence()


@pytest.mark.parametrize("name", registry.mechanisms)
def test_every_mechanism_is_documented(name):
    kind = registry.mechanisms[name]
    assert kind.name == name
    for part in ("**Privacy**", "**Accuracy**", "**Runtime**", "Theorem"):
        assert part in kind.__doc__, f"{name} lacks {part}"
    assert kind.title
    assert kind.prefer.endswith(".")


@pytest.mark.parametrize("name", registry.query_classes)
def test_every_query_class_is_documented(name):
    kind = registry.query_classes[name]
    assert kind.name == name
    assert kind.__doc__
    assert kind.title
