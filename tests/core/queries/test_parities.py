from itertools import product

import numpy as np

from core.queries.conjunctions import Conjunctions
from core.queries.kit import literals
from core.queries.parities import Parities, walsh_hadamard
from core.schema.domain import Booleans, Domain
from core.table.counts import Cells

FIVE = Domain(tuple(Booleans(name=f"b{place}") for place in range(5)))


def counts(domain=FIVE, most=10**6):
    return Cells(domain, np.random.default_rng(2).integers(0, most, domain.cells()))


def all_conjunctions(table):
    """Entry S: rows that have every fact of S, by summing over supersets one cell at a time."""
    found = np.zeros_like(table)
    for wanted in product((0, 1), repeat=table.ndim):
        found[wanted] = sum(table[cell] for cell in product((0, 1), repeat=table.ndim) if all(np.array(cell) >= wanted))
    return found


def test_the_fast_transform_is_the_matrix_of_signs():
    table = counts().cells
    signs = np.array([[(-1) ** bin(s & x).count("1") for x in range(32)] for s in range(32)])
    transformed = walsh_hadamard(table)
    assert transformed.dtype == np.int64
    assert np.array_equal(transformed.ravel(), signs @ table.ravel())
    assert np.array_equal(walsh_hadamard(transformed), 32 * table)


def test_odd_and_even_rows_are_all_rows():
    odd, even = Parities().totals(counts()), Parities(parity="even").totals(counts())
    assert np.array_equal(odd + even, np.full(32, counts().cells.sum()))
    assert odd[0] == 0


def test_conjunctions_of_full_order_are_the_same_tensor():
    found = sorted(Conjunctions(order=5).totals(counts()).tolist())
    assert found == sorted(all_conjunctions(counts().cells).ravel().tolist())


def test_twenty_columns_at_once():
    domain = Domain(tuple(Booleans(name=f"b{place}") for place in range(20)))
    single = Cells(domain, np.eye(1, 2**20, 2**19 + 1, dtype=np.int64))
    odd = Parities().totals(single)
    assert len(odd) == 2**20
    assert odd[2**19] == 1 and odd[1] == 1 and odd[2**19 + 1] == 0 and odd[2] == 0


def test_a_missing_answer_is_not_yes():
    domain = Domain((Booleans(name="ill", missing=True),))
    assert literals.halved(np.array([5, 3, 2]), (1,)).tolist() == [7, 3]
    assert Parities().totals(Cells(domain, np.array([5, 3, 2]))).tolist() == [0, 3]
