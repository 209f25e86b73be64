import numpy as np
import pytest

from core.models.range_tables import laid, ranges
from core.schema.domain import Booleans, Domain, Integers

DOMAIN = Domain(
    (
        Integers(name="a", low=0, high=99),
        Integers(name="b", low=0, high=4),
        Integers(name="c", low=0, high=3),
        Booleans(name="d"),
    )
)


def line(seed, size):
    return np.random.default_rng(seed).random(size) ** 4


def test_every_range_of_a_single_column_keeps_its_share():
    held = {("a",): line(0, 100), ("b",): line(1, 5)}
    model = ranges(DOMAIN, held, 1000.0, np.random.default_rng(0))
    rows = model.sample(3_000, np.random.default_rng(1))
    for name, place in (("a", 0), ("b", 1)):
        counted = np.bincount(rows[:, place], minlength=DOMAIN[name].size)
        off = np.cumsum(counted) - 3 * np.cumsum(model.marginal((name,)))
        assert np.abs(off).max() <= 1.001


def test_tables_answer_directly_and_have_the_total():
    held = {("a",): line(0, 100), ("b", "c"): line(1, (5, 4))}
    model = ranges(DOMAIN, held, 500.0, np.random.default_rng(0))
    assert model.total == pytest.approx(500)
    assert np.allclose(model.marginal(("c", "b")), 500 * (held["b", "c"] / held["b", "c"].sum()).T)
    assert model.marginal(()).sum() == pytest.approx(500)
    assert set(model.tables()) == set(held)
    assert np.allclose(model.marginal(("d",)), 250)


def test_columns_without_a_common_table_are_independent_and_others_are_not():
    joint = np.diag(np.ones(4))
    domain = Domain((Integers(name="b", low=0, high=3), Integers(name="c", low=0, high=3), Booleans(name="d")))
    rows = laid(domain, {("b", "c"): joint}, 4_000, np.random.default_rng(0))
    assert (rows[:, 0] == rows[:, 1]).all()
    assert abs(np.corrcoef(rows[:, 0], rows[:, 2])[0, 1]) < 0.1


def test_overlapping_tables_are_chained_through_their_common_column():
    domain = Domain(tuple(Integers(name=name, low=0, high=3) for name in "abc"))
    held = {("a", "b"): np.diag(np.ones(4)), ("b", "c"): np.fliplr(np.diag(np.ones(4)))}
    rows = laid(domain, held, 400, np.random.default_rng(0))
    assert (rows[:, 0] == 3 - rows[:, 2]).all()


@pytest.mark.parametrize("rows", [0, 1, 5])
def test_empty_tables_and_few_rows_give_records(rows):
    model = ranges(DOMAIN, {("a",): np.zeros(100)}, 0.0, np.random.default_rng(0))
    assert model.total == 0
    assert model.sample(rows, np.random.default_rng(0)).shape == (rows, 4)
