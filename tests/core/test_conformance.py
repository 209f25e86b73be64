"""The same checks for every registered mechanism and query class, whatever it is.

A mechanism is run on a table and again, with the same frozen noise, on a neighbour. Everything it asks of the private
table passes through the recorder, so the privacy of the whole run is checked step by step: same steps, hidden values
within the declared sensitivity, the exact privacy loss of every step over all of its outcomes, and the declared cost.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest

from core import accounting, registry
from core.counts import Cells
from core.domain import Domain, Integers
from core.errors import DeskError
from core.models import tables as tables_model
from core.privacy import Budget, Unit
from core.queries.marginals import Marginals
from tests.core.recorder import Recorder

PURE, APPROXIMATE = Budget(1), Budget(1, 1e-6)
UNITS = (Unit.row(), Unit.row("replace"), Unit.id("person", 3), Unit.id("person", 3, "replace"))
EXAMPLES = {
    "marginals": (Marginals(order=2),),
}
"""One choice of queries on DOMAIN for each registered class."""

DOMAIN = Domain((Integers(name="a", low=0, high=3), Integers(name="b", low=0, high=1), Integers(name="c", low=0, high=1)))
MICRO = Domain((Integers(name="a", low=0, high=1), Integers(name="b", low=0, high=1)))
MICRO_EXAMPLES = {
    "marginals": (Marginals(order=1), Marginals(order=2)),
}


def build(name: str, queries: tuple, budget: Budget, domain: Domain, unit: Unit):
    """The mechanism, or None where it refuses this combination in advance."""
    try:
        mechanism = registry.mechanism_from(name, queries, budget, {})
        mechanism.check(domain, unit)
    except DeskError:
        return None
    return mechanism


def cases():
    """Every mechanism with every class it serves, and with every unit and both kinds of budget."""
    for name in registry.mechanisms:
        served = [
            (example, budget, unit)
            for example in EXAMPLES
            for budget in (PURE, APPROXIMATE)
            for unit in UNITS
            if build(name, EXAMPLES[example], budget, DOMAIN, unit)
        ]
        assert served, f"no example fits {name}: add one"
        first = served[0][0]
        for example, budget, unit in served:
            if example == first or unit == UNITS[0]:
                label = f"{name}-{example}-{'pure' if budget.pure else 'approximate'}-{unit.limit}{unit.neighbours}"
                yield pytest.param(build(name, EXAMPLES[example], budget, DOMAIN, unit), unit, id=label)


CASES = list(cases())


def neighbours(unit: Unit, generator: np.random.Generator) -> tuple[Cells, Cells]:
    """Two tables that differ by one unit; half of the time the unit's rows all fall into one cell."""
    first = generator.integers(0, 4, DOMAIN.cells()) * (generator.random(DOMAIN.cells()) < 0.5)
    second = first + _unit_rows(unit, generator)
    if unit.neighbours == "replace":
        rows = _unit_rows(unit, generator)
        while unit.public_rows and rows.sum() != (second - first).sum():
            rows = _unit_rows(unit, generator)
        first = first + rows
    return Cells(DOMAIN, first, unit), Cells(DOMAIN, second, unit)


def _unit_rows(unit: Unit, generator: np.random.Generator) -> np.ndarray:
    rows = int(generator.integers(1, unit.limit + 1))
    cells = generator.integers(0, DOMAIN.cells(), rows)
    if generator.random() < 0.5:
        cells = np.repeat(cells[:1], unit.limit)
    return np.bincount(cells, minlength=DOMAIN.cells())


@pytest.fixture(autouse=True)
def few_points(monkeypatch):
    """Fitting records is post-processing: fewer points make these many runs fast and change nothing that is checked."""
    monkeypatch.setattr(tables_model, "FEWEST_POINTS", 50)
    monkeypatch.setattr(tables_model, "MOST_POINTS", 50)


def run_on_both(mechanism, first: Cells, second: Cells, seed: int):
    recorded = Recorder(seed)
    one = mechanism.run(first, recorded)
    replayed = Recorder(seed, recorded.calls)
    two = mechanism.run(second, replayed)
    assert len(recorded.calls) == len(replayed.calls) > 0
    return list(zip(recorded.calls, replayed.calls, strict=True)), one, two


@pytest.mark.parametrize(("mechanism", "unit"), CASES)
def test_record_and_replay_on_neighbours(mechanism, unit):
    generator = np.random.default_rng(8)
    reached = 0.0
    for seed in range(50):
        steps, one, two = run_on_both(mechanism, *neighbours(unit, generator), seed)
        for before, after in steps:
            assert (before.kind, before.amount, before.sensitivity) == (after.kind, after.amount, after.sensitivity)
            assert before.hidden.shape == after.hidden.shape
            assert before.distance(after) <= before.sensitivity
            reached = max(reached, before.distance(after) / before.sensitivity)
        shapes = [{key: table.shape for key, table in model.tables().items()} for model in (one, two)]
        assert shapes[0] == shapes[1]
        for model in (one, two):
            assert model.sample(7, np.random.default_rng(0)).shape == (7, len(DOMAIN))
    # The declared sensitivity is tight: some pair reaches it, so a mechanism that declared half of it would fail here.
    assert reached == 1


def pure_on_micro(name: str):
    options = (build(name, queries, PURE, MICRO, Unit.row()) for queries in MICRO_EXAMPLES.values())
    return next(filter(None, options), None)


def test_only_gaussian_noise_has_no_pure_form():
    assert [name for name in registry.mechanisms if pure_on_micro(name) is None] == ["gaussian"]


@pytest.mark.parametrize("name", [name for name in registry.mechanisms if name != "gaussian"])
def test_exact_privacy_on_a_micro_domain(name):
    """All tables of up to six rows on four cells, all 504 pairs that differ by one row, all outcomes of every step."""
    mechanism = pure_on_micro(name)
    tables = [np.bincount(rows, minlength=4) for size in range(6) for rows in combinations_with_replacement(range(4), size)]
    pairs = [(table, table + np.eye(4, dtype=int)[cell]) for table in tables for cell in range(4)]
    assert len(pairs) >= 500
    largest = 0.0
    for seed, (table, neighbour) in enumerate(pairs):
        steps, _, _ = run_on_both(mechanism, Cells(MICRO, table), Cells(MICRO, neighbour), seed)
        largest = max(largest, sum(before.loss(after) for before, after in steps))
    assert 0 < largest <= 1 + 1e-9


@pytest.mark.parametrize(("mechanism", "unit"), CASES)
def test_declared_cost_covers_the_recorded_noise(mechanism, unit):
    recorder = Recorder(0)
    mechanism.run(neighbours(unit, np.random.default_rng(1))[0], recorder)
    declared, asked = mechanism.cost(DOMAIN, unit), recorder.cost()
    for order in (Fraction(3, 2), Fraction(8), Fraction(64)):
        assert accounting.units(declared, order) >= accounting.units(asked, order)
    if declared.pure:
        assert accounting.units(declared, None) >= accounting.units(asked, None)


@pytest.mark.parametrize(("mechanism", "unit"), CASES)
def test_the_cost_is_within_the_stated_budget(mechanism, unit):
    budget = mechanism.budget
    spent = accounting.units(mechanism.cost(DOMAIN, unit), accounting.order_for(budget))
    assert 0 < spent <= accounting.capacity(budget)


@pytest.mark.parametrize(("mechanism", "unit"), CASES)
def test_expected_error_is_a_finite_number_of_rows(mechanism, unit):
    expected = mechanism.expected(DOMAIN, unit)
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
def test_every_query_class_is_documented_and_checked(name):
    kind = registry.query_classes[name]
    assert kind.name == name
    assert kind.__doc__
    assert kind.title
    assert name in EXAMPLES, "add an example"
    for query in EXAMPLES[name]:
        assert registry.query_from_json(registry.query_to_json(query)) == query
        assert query.sentence(DOMAIN)
