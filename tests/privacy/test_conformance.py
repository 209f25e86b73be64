"""The same checks for every registered mechanism and query class, whatever it is.

A mechanism is run on a table and again, with the same answers, on a neighbour. Everything it asks of the private
table passes through the recorder, so the privacy of the whole run is checked step by step: same steps, hidden values
within the declared sensitivity, the exact privacy loss of every step over all of its outcomes, and the declared cost.
"""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction
from itertools import combinations, combinations_with_replacement

import numpy as np
import pytest

from core import accounting, registry
from core.counts import Cells
from core.domain import Domain, Integers
from core.errors import DeskError
from core.mechanisms import halfspace_fit, halfspace_projections
from core.models import tables as tables_model
from core.privacy import Budget, Unit
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
from tests.core.recorder import Recorder

PURE, APPROXIMATE = Budget(1), Budget(1, 1e-6)
QUICK = {"rounds": 4, "members": 50, "proposals": 10, "planes": 16}
"""Options that make a run short, for the mechanisms that have them."""
UNITS = (Unit.row(), Unit.row("replace"), Unit.id("person", 3), Unit.id("person", 3, "replace"))
EXAMPLES = {
    "marginals": (Marginals(order=2),),
    "intervals": (Intervals(column="a"),),
    "rectangles": (Rectangles(columns=("a", "b")),),
    "halfspaces": (Halfspaces(columns=("a", "b"), directions=6),),
    "conjunctions": (Conjunctions(order=2, columns=("b", "c")),),
    "parities": (Parities(columns=("b", "c")),),
    "unions": (Unions(column="a", parts=2),),
    "counting": (Counting(conditions=((("a", (0, 2)), ("b", (1,))), (("c", (0,)),))),),
    "linear": (Linear(columns=("a",), weights=((0, 1, 3, 4),), whole=4),),
    "lipschitz": (Lipschitz(columns=("a",), statistics=(("largest",), ("top", 2))),),
    "several": (Marginals(order=2), Intervals(column="a"), Halfspaces(columns=("a", "b"), directions=6)),
}
"""One choice of queries on DOMAIN for each registered class, and one of several classes at once."""

DOMAIN = Domain(tuple(Integers(name=name, low=0, high=high) for name, high in (("a", 3), ("b", 1), ("c", 1))))
MICRO = Domain((Integers(name="a", low=0, high=1), Integers(name="b", low=0, high=1)))
MICRO_EXAMPLES = {
    "marginals": (Marginals(order=1), Marginals(order=2)),
    "intervals": (Intervals(column="a"),),
    "rectangles": (Rectangles(columns=("a", "b")),),
    "halfspaces": (Halfspaces(columns=("a", "b"), directions=4),),
}


def build(name: str, queries: tuple, budget: Budget, domain: Domain, unit: Unit):
    """The mechanism, or None where it refuses this combination in advance."""
    try:
        known = {each.name for each in fields(registry.offline[name])}
        mechanism = registry.mechanism_from(name, queries, budget, {key: QUICK[key] for key in QUICK if key in known})
        mechanism.check(domain, unit)
    except DeskError:
        return None
    return mechanism


def cases():
    """Every mechanism with every class it serves, and with every unit and both kinds of budget."""
    for name in registry.offline:
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
    first = generator.integers(0, 400, DOMAIN.cells()) * (generator.random(DOMAIN.cells()) < 0.5)
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
    monkeypatch.setattr(halfspace_projections, "SUPPORT", 50)
    monkeypatch.setattr(halfspace_fit, "SUPPORT", 64)


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
    for seed in range(25):
        steps, one, two = run_on_both(mechanism, *neighbours(unit, generator), seed)
        for before, after in steps:
            assert (before.kind, before.amount, before.sensitivity) == (after.kind, after.amount, after.sensitivity)
            assert before.hidden.shape == after.hidden.shape
            assert before.distance(after) <= before.sensitivity
            reached = max(reached, before.distance(after) / before.sensitivity)
        assert one.total == two.total
        assert one.tables().keys() == two.tables().keys()
        for columns in ((), *combinations(DOMAIN.names, 1), *combinations(DOMAIN.names, 2)):
            assert np.array_equal(one.marginal(columns), two.marginal(columns))
        drawn = [model.sample(7, np.random.default_rng(0)) for model in (one, two)]
        assert drawn[0].shape == (7, len(DOMAIN))
        assert np.array_equal(*drawn)
    # The declared sensitivity is tight: some pair reaches it, so a mechanism that declared half of it would fail here.
    assert reached == 1


def pure_on_micro(name: str):
    options = (build(name, queries, PURE, MICRO, Unit.row()) for queries in MICRO_EXAMPLES.values())
    return next(filter(None, options), None)


def test_only_gaussian_noise_has_no_pure_form():
    assert [name for name in registry.offline if pure_on_micro(name) is None] == ["gaussian"]


@pytest.mark.parametrize("name", [name for name in registry.offline if name != "gaussian"])
def test_exact_privacy_on_a_micro_domain(name):
    """All tables of up to six rows on four cells, all 504 pairs that differ by one row, all outcomes of every step."""
    mechanism = pure_on_micro(name)
    rows = (chosen for size in range(6) for chosen in combinations_with_replacement(range(4), size))
    tables = [np.bincount(chosen, minlength=4) for chosen in rows]
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


@pytest.mark.parametrize("name", registry.offline)
def test_every_mechanism_is_documented(name):
    kind = registry.offline[name]
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
