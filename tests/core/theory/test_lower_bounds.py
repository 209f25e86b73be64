"""Lower bounds: never above what a method provably or exactly does, and as their derivations say."""

from __future__ import annotations

import math

import numpy as np
import pytest

from core.base.errors import BadParameter
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.conjunctions import Conjunctions
from core.queries.intervals import Intervals
from core.queries.linear import Linear
from core.queries.marginals import Marginals
from core.queries.parities import Parities
from core.queries.rectangles import Rectangles
from core.schema.domain import Booleans, Domain, Integers
from core.table.counts import Cells
from core.theory import SmallDbBound
from core.theory.lower_bounds import finest_bits, least_error, log_records, packing, reconstruction

DOMAIN = Domain((Integers(name="a", low=0, high=7), Integers(name="b", low=0, high=3), Booleans(name="c")))


def cells(query, record) -> frozenset:
    """Which questions of a class hold for a record."""
    counts = np.zeros(DOMAIN.shape(), dtype=np.int64)
    counts[record] = 1
    return frozenset(np.flatnonzero(query.totals(Cells(DOMAIN, counts))).tolist())


@pytest.mark.parametrize(
    "query",
    [Marginals(order=2), Intervals(column="a"), Rectangles(columns=("a", "b")), Conjunctions(order=1, columns=("c",)),
     Parities(columns=("c",)), Marginals(sets=(("a",), ("c",)))],
    ids=lambda query: query.name,
)  # fmt: skip
def test_the_records_are_told_apart_from_the_base_and_from_each_other(query):
    """As the proof needs it: for each two some question holds for the first and neither for the second nor the base."""
    used = {name for table in query.tables(DOMAIN) for name in table}
    records = [
        record
        for record in np.ndindex(*DOMAIN.shape())
        if all((code > 0) == (name in used) for name, code in zip(DOMAIN.names, record, strict=True))
    ]
    assert math.log(len(records)) == pytest.approx(log_records(query, DOMAIN))
    base = cells(query, (0, 0, 0))
    for one in records:
        for other in records:
            if one != other:
                assert cells(query, one) - cells(query, other) - base


def test_no_count_is_claimed_for_other_classes():
    assert log_records(Linear(columns=("b",), weights=((0, 1, 3, 4),), whole=4), DOMAIN) == 0


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 10.0])
@pytest.mark.parametrize("bits", [4, 16])
def test_it_stays_below_what_theorems_promise(epsilon, bits):
    """An upper bound that holds for every table cannot lie below a lower bound for some table."""
    domain = Domain((Integers(name="a", low=0, high=2**bits - 1),))
    questions = 2 ** (bits - 1) * (2**bits + 1)
    for rows in (100, 10_000, 10**6):
        for unit in (Unit.row(), Unit.row("replace")):
            found = least_error([Intervals(column="a")], domain, unit, Budget(epsilon, 0), rows)
            bound = SmallDbBound(log_universe=math.log(2**bits), log_queries=math.log(questions))
            assert found.rows <= rows * bound.error(rows, epsilon) * (1 + 1e-9)
            assert found.rows <= rows / 2


def test_packing_is_the_arithmetic_of_its_proof():
    for limit in (1, 3):
        unit = Unit.row() if limit == 1 else Unit.id("person", limit)
        found = packing(math.log(1000), 0.5, unit, 10_000)
        steps = math.log(950) / 0.5
        # With so many rows moved, and one unit less, the events fit into probability 1 and the argument stops.
        assert math.ceil((2 * found) / limit) <= steps <= math.ceil((2 * found) / limit) + 1
    assert packing(math.log(1000), 0.5, Unit.row(), 4) == 2.0
    assert packing(0.0, 1.0, Unit.row(), 100) == 0.0


def test_the_bits_are_those_at_which_packing_passes_the_accuracy():
    rows, epsilon, alpha = 500, 0.2, 0.05
    edge = finest_bits(alpha, epsilon, rows)
    below, above = (packing(bits * math.log(2), epsilon, Unit.row(), rows) for bits in (edge - 0.01, edge + 0.01))
    assert below <= alpha * rows < above + 0.5 and above > below


def test_reconstruction_grows_with_the_dimension_and_falls_with_epsilon():
    unit = Unit.row("replace")
    low, high = (reconstruction(d, Budget(0.1, 0), unit, 10**6) for d in (10, 1000))
    assert high == pytest.approx(100 * low)
    assert reconstruction(1000, Budget(1, 0), unit, 10**6) < high
    assert reconstruction(1000, Budget(0.1, 0), Unit.row(), 10**6) < high
    assert reconstruction(1000, Budget(5, 0), unit, 10**6) == 0.0
    assert reconstruction(1000, Budget(0.1, 0), unit, 5) == reconstruction(10, Budget(0.1, 0), unit, 5)


def test_with_a_delta_only_reconstruction_speaks():
    query, domain = Intervals(column="a"), Domain((Integers(name="a", low=0, high=2**16 - 1),))
    pure = least_error([query], domain, Unit.row(), Budget(0.1, 0), 10_000)
    assert "packing" in pure.theorem and pure.rows == 55.0
    assert least_error([query], domain, Unit.row(), Budget(0.1, 1e-9), 10_000).rows < 1


def test_senseless_arguments_are_refused():
    with pytest.raises(BadParameter, match="beta"):
        packing(1.0, 1.0, Unit.row(), 10, beta=1.0)
    with pytest.raises(BadParameter, match="rows"):
        packing(1.0, 1.0, Unit.row(), 0)
