"""The same checks for every registered mechanism and query class, whatever it is.

A mechanism is run on a table and again, with the same answers, on a neighbour. Everything it asks of the private
table passes through the recorder, so the privacy of the whole run is checked step by step: same steps, hidden values
within the declared sensitivity, and the declared cost. Sessions are in `test_replay.py`, exact losses in
`test_exact.py`.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from core import registry
from core.privacy import accounting
from core.privacy.unit import Unit
from core.queries.intervals import Intervals
from core.queries.rectangles import Rectangles
from core.schema.domain import Domain, Integers
from tests.accounts import part_of
from tests.kernels import run
from tests.privacy.kit.cases import CASES, DOMAIN, EXAMPLES, PURE, UNITS, few_points, neighbours
from tests.privacy.kit.recorder import Recorder
from tests.privacy.kit.replay import check_released, check_steps, on_both

PAIRS = 200
"""Generated pairs of neighbours for each mechanism, over all its cases."""
NAMES = Counter(case.values[0].name for case in CASES)
LINE = Domain((Integers(name="a", low=0, high=511),))
PLANE = Domain((Integers(name="a", low=0, high=39), Integers(name="b", low=0, high=39)))
SEARCHING = {
    "interval-tree": (LINE, Intervals(column="a")),
    "rectangle-tree": (PLANE, Rectangles(columns=("a", "b"))),
    "tree": (LINE, Intervals(column="a")),
}
"""Those that look where rows crowd before they count, which they do in no table as small as that of all others."""


@pytest.fixture(autouse=True)
def few():
    with few_points():
        yield


def test_every_mechanism_is_replayed():
    assert NAMES.keys() == registry.offline.keys()


def replayed(mechanism, unit, pairs: int, seed: int) -> None:
    generator, reached = np.random.default_rng(seed), 0.0
    for pair in range(pairs):
        steps, one, two = on_both(mechanism, *neighbours(unit, generator), seed + pair)
        reached = max(reached, check_steps(steps))
        check_released(one, two)
    # The declared sensitivity is tight: some pair reaches it, so a mechanism that declared half of it would fail here.
    assert reached == 1


@pytest.mark.crossing(keep=1, each="mechanism")
@pytest.mark.parametrize(("mechanism", "unit"), CASES)
def test_record_and_replay_on_neighbours(mechanism, unit):
    replayed(mechanism, unit, max(10, -(-PAIRS // NAMES[mechanism.name])), 8)


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: f"{unit.limit}{unit.neighbours}")
@pytest.mark.parametrize("name", SEARCHING)
def test_a_search_is_replayed_on_neighbours_too(name: str, unit: Unit) -> None:
    domain, query = SEARCHING[name]
    mechanism = registry.mechanism_from(name, (query,), PURE, {})
    generator, reached, kinds = np.random.default_rng(12), 0.0, set[str]()
    for seed in range(8):
        steps, one, two = on_both(mechanism, *neighbours(unit, generator, domain), seed)
        reached = max(reached, check_steps(steps))
        check_released(one, two)
        kinds |= {call.kind for call, _ in steps}
    assert reached == 1 and "exceeds" in kinds


@pytest.mark.slow
@pytest.mark.parametrize(("mechanism", "unit"), CASES)
def test_record_and_replay_on_more_pairs(mechanism, unit):
    replayed(mechanism, unit, 10, 100)


@pytest.mark.crossing(keep=3, each="mechanism")
@pytest.mark.parametrize(("mechanism", "unit"), CASES)
def test_declared_cost_covers_the_recorded_noise(mechanism, unit):
    recorder = Recorder(0)
    run(mechanism, neighbours(unit, np.random.default_rng(1))[0], recorder)
    declared, asked = mechanism.cost(DOMAIN, unit), recorder.cost()
    for order in (Fraction(3, 2), Fraction(8), Fraction(64)):
        assert accounting.units(declared, order) >= accounting.units(asked, order)
    if declared.pure:
        assert accounting.units(declared, None) >= accounting.units(asked, None)


@pytest.mark.crossing(keep=3, each="mechanism")
@pytest.mark.parametrize(("mechanism", "unit"), CASES)
def test_the_cost_is_within_the_stated_budget(mechanism, unit):
    assert 0 < part_of(mechanism.budget, mechanism.cost(DOMAIN, unit)) <= 1


@pytest.mark.crossing(keep=3, each="mechanism")
@pytest.mark.parametrize(("mechanism", "unit"), CASES)
def test_expected_error_is_a_finite_number_of_rows(mechanism, unit):
    expected = mechanism.expected(DOMAIN, unit)
    assert 0 < expected.mean <= expected.worst < float("inf")
    assert "rows" in expected.sentence()


@pytest.mark.parametrize("name", registry.query_classes)
def test_every_query_class_survives_json(name):
    for query in EXAMPLES[name]:
        assert registry.query_from_json(registry.query_to_json(query)) == query
        assert query.sentence(DOMAIN)
