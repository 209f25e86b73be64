"""Record and replay on neighbours: every session, and the search for bounds and categories.

The offline mechanisms are in `test_conformance.py`. Each mechanism sees at least 200 generated pairs.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from core import registry
from core.kernel.kernel import Kernel
from core.kernel.query import Query
from core.mechanisms.discovery.discovery import Discovery
from core.mechanisms.online import online_laplace
from core.privacy import accounting
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.schema.domain import Booleans, Domain
from core.table.raw_columns import RawColumn, RawColumns
from tests.accounts import part_of
from tests.core.mechanisms.asked import questions
from tests.privacy.kit.cases import APPROXIMATE, DOMAIN, PURE, UNITS, few_points, neighbours
from tests.privacy.kit.recorder import Recorder
from tests.privacy.kit.replay import check_runs, check_steps, paired, session_on_both
from tests.privacy.kit.sessions import VARIANTS, built, first_themes, quick_walks, session_cases, told_apart

PAIR = Domain((Booleans(name="x"),))
CASES = list(session_cases(DOMAIN, (PURE, APPROXIMATE), UNITS))
SMALL_NETS = [
    (f"median-basic-1-two-cells-{unit.limit}{unit.neighbours}-{budget.delta > 0}", mechanism, unit)
    for budget, unit in product((PURE, APPROXIMATE), UNITS)
    if (mechanism := built("median-basic", budget, VARIANTS["median-basic"][1], PAIR, unit))
]
"""The constants of the thesis need a net that fits two cells only."""
ASKED = questions(DOMAIN, 6, denominators=(1, 8, 2**20))
ASKED_PAIR = [Query(columns=("x",), weights=np.array(weights)) for weights in ([0, 1], [1, 0], [1, 1])]
PAIRS = 200
NAMES = Counter(mechanism.name for _, mechanism, _ in CASES)


def test_every_session_is_replayed():
    assert NAMES.keys() == registry.interactive.keys() == VARIANTS.keys()
    assert len(SMALL_NETS) == 8


@pytest.fixture(scope="module", autouse=True)
def walks():
    with quick_walks(), few_points(), first_themes(), told_apart():
        yield


def replayed(mechanism, unit, domain, asked, seeds) -> None:
    generator, reached = np.random.default_rng(8), 0.0
    declared, budget = mechanism.cost(domain, unit), mechanism.budget
    assert 0 < part_of(budget, declared) <= 1
    for seed in seeds:
        steps, one, two = session_on_both(mechanism, *neighbours(unit, generator, domain), asked, seed)
        reached = max(reached, check_steps(steps))
        assert one == two, "what is released must follow from released values alone"
        calls = [before for before, _ in steps]
        check_runs(calls)
        spent = Recorder.priced(calls)
        for order in (None,) if budget.pure else (Fraction(3, 2), Fraction(40)):
            assert accounting.units(spent, order) <= accounting.units(declared, order)
    # Some pair comes close to the declared sensitivity, so that half of it would fail.
    assert reached > 0.6


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=1, each="mechanism")
@pytest.mark.parametrize(("mechanism", "unit"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_sessions(mechanism, unit):
    replayed(mechanism, unit, DOMAIN, ASKED, range(-(-PAIRS // NAMES[mechanism.name])))


@pytest.mark.slow
@pytest.mark.parametrize(("mechanism", "unit"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_sessions_on_more_pairs(mechanism, unit):
    many = questions(DOMAIN, 12, seed=11, denominators=(1, 8, 2**20))
    replayed(mechanism, unit, DOMAIN, many, range(100, 110))


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=2)
@pytest.mark.parametrize(("mechanism", "unit"), [case[1:] for case in SMALL_NETS], ids=[case[0] for case in SMALL_NETS])
def test_constants_of_the_thesis(mechanism, unit):
    replayed(mechanism, unit, PAIR, ASKED_PAIR, range(3))


DISCOVERIES = list(product(("number", "date", "text"), (PURE, APPROXIMATE), UNITS))


@pytest.mark.parametrize(("kind", "budget", "unit"), DISCOVERIES)
def test_discovery(kind, budget, unit):
    generator, reached = np.random.default_rng(3), 0.0
    plan = Discovery(columns={"x": kind}, budget=Budget(4 * budget.epsilon, budget.delta))
    texts = ["", "1", "17", "200", "2020-02-29", "1999-12-31", "north", " north", "nor", "n?", "n\ud800"]
    for seed in range(-(-PAIRS // len(DISCOVERIES))):
        first, second = (private(counts, texts, unit) for counts in _tables(unit, len(texts), generator))
        recorded = Recorder(seed)
        one = plan.run(Kernel(first, recorded, plan.cost()))
        again = Recorder(seed, recorded.calls)
        two = plan.run(Kernel(second, again, plan.cost()))
        assert one == two
        reached = max(reached, check_steps(paired(recorded, again)))
        assert recorded.cost() == plan.cost()
    assert reached == 1


def private(counts: np.ndarray, texts: list[str], unit: Unit) -> RawColumns:
    """A text that no row has is not there."""
    there = np.flatnonzero(counts[:-1])
    column = RawColumn([texts[place] for place in there], counts[there], int(counts[-1]))
    return RawColumns({"x": column}, unit)


def _tables(unit: Unit, texts: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """How often each text occurs, and no text at all, in two tables that differ by one unit."""
    first = generator.integers(0, 900, texts + 1) * (generator.random(texts + 1) < 0.5)
    second = first.copy()
    second[generator.integers(texts + 1)] += unit.limit
    if unit.neighbours == "replace":
        first[generator.integers(texts + 1)] += unit.limit
    return first, second


def test_a_session_that_looks_at_the_number_of_rows_is_caught(monkeypatch):
    monkeypatch.setattr(
        online_laplace, "measure_rows", lambda kernel, event: float(kernel._Kernel__counts.marginal(()))
    )
    _, mechanism, unit = next(case for case in CASES if case[1].name == "online-laplace")
    with pytest.raises(AssertionError, match="released"):
        replayed(mechanism, unit, DOMAIN, ASKED, range(3))
