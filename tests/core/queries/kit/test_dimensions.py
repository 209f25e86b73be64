from itertools import product

import numpy as np
import pytest

from core.queries.conjunctions import Conjunctions
from core.queries.intervals import Intervals
from core.queries.kit.dimensions import fat_of_predicates, packed
from core.queries.linear import Linear
from core.queries.marginals import Marginals
from core.queries.parities import Parities
from core.queries.rectangles import Rectangles
from core.queries.unions import Unions
from core.schema.domain import Booleans, Categories, Domain, Integers
from tests.core.queries.cases import fat_shattered, matrix, shattered


def facts(count):
    return Domain(tuple(Booleans(name=f"b{place}") for place in range(count)))


def line(size, missing=False):
    return Domain((Integers(name="n", low=1, high=size, missing=missing),))


def test_the_brute_force_itself():
    everything = np.array(list(product((0, 1), repeat=3)))
    assert shattered(everything) == 3
    assert shattered(everything[:-1]) == 2
    assert shattered(everything[:1]) == 0
    assert fat_shattered(everything, 0.5) == 3
    assert fat_shattered(everything * 0.6, 0.3) == 3
    assert fat_shattered(everything * 0.6, 0.31) == 0


@pytest.mark.parametrize(("count", "order"), [(1, 1), (2, 1), (3, 1), (3, 2), (3, 3), (4, 1), (4, 2), (4, 3), (5, 2)])
@pytest.mark.parametrize("connective", ["and", "or"])
def test_conjunctions(count, order, connective):
    query = Conjunctions(order=order, connective=connective)
    claimed, found = query.vc(facts(count)), shattered(matrix(query, facts(count)))
    assert claimed.low <= found <= claimed.high
    assert claimed.exact or order < count


def test_the_block_construction_is_worth_its_name():
    """Three groups of three columns each shatter two records, so 9 columns in threes shatter 6."""
    assert packed(9, 3, spare=1) == 6
    assert packed(9, 3, spare=0) == 4
    assert packed(12, 3, spare=0) == 6
    assert packed(7, 1, spare=1) == 3
    assert packed(8, 1, spare=0) == 3
    assert packed(5, 9, spare=1) == 5
    assert packed(0, 3, spare=1) == 0


@pytest.mark.parametrize(("count", "order"), [(2, 1), (3, 1), (3, 2), (4, 1), (4, 2), (4, 3), (4, 4), (5, 1)])
def test_marginals_of_booleans(count, order):
    query = Marginals(order=order)
    claimed, found = query.vc(facts(count)), shattered(matrix(query, facts(count)))
    assert claimed.low <= found <= claimed.high
    assert order != count or (claimed.exact and found == 1)


def test_marginals_of_a_constant_column():
    constant = Domain((Categories(name="one", values=("only",)),))
    assert Marginals(order=1).vc(constant).high == 0


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_parities_are_exact(count):
    claimed = Parities().vc(facts(count))
    assert claimed.exact
    assert claimed.low == shattered(matrix(Parities(), facts(count))) == count


@pytest.mark.parametrize("size", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("missing", [False, True])
def test_intervals_are_exact(size, missing):
    claimed = Intervals(column="n").vc(line(size, missing))
    assert claimed.exact
    assert claimed.low == shattered(matrix(Intervals(column="n"), line(size, missing)))


@pytest.mark.parametrize(("size", "parts"), [(1, 1), (2, 1), (3, 2), (4, 2), (5, 2), (7, 2), (7, 3), (8, 3)])
def test_unions_are_exact(size, parts):
    query = Unions(column="n", parts=parts)
    claimed = query.vc(line(size))
    assert claimed.exact
    assert claimed.low == shattered(matrix(query, line(size)))


@pytest.mark.parametrize("sizes", [(1, 3), (2, 2), (2, 3), (3, 3), (3, 4), (2, 2, 2), (1, 3, 3)])
def test_rectangles(sizes):
    domain = Domain(tuple(Integers(name=f"n{place}", low=1, high=size) for place, size in enumerate(sizes)))
    query = Rectangles(columns=domain.names)
    claimed, found = query.vc(domain), shattered(matrix(query, domain))
    assert claimed.low <= found <= claimed.high
    if min(sizes) >= 3:
        assert claimed.exact and found == 2 * len(sizes)


@pytest.mark.exhaustive
@pytest.mark.parametrize("gamma", [0.01, 0.1, 0.2, 0.25, 0.3, 0.5])
def test_linear(gamma):
    weights = np.random.default_rng(5).integers(0, 17, (9, 4))
    query = Linear(columns=("n",), weights=tuple(map(tuple, weights.tolist())), whole=16)
    claimed, found = query.fat(line(4), gamma), fat_shattered(weights / 16, gamma)
    assert claimed.low <= found <= claimed.high
    assert query.vc(line(4)).high >= found


def test_nothing_is_shattered_above_one_half():
    vc = Intervals(column="n").vc(line(5))
    assert fat_of_predicates(vc, 0.5).low == 2
    assert fat_of_predicates(vc, 0.501).high == 0
