import numpy as np

from core.models.points import Points
from core.models.tables import _mixed, fit, lookup
from tests.core.samples import SMALL, small_counts

SETS = [("colour", "size"), ("size", "old")]


def test_the_smallest_table_that_holds_the_columns_answers():
    held = {("colour", "size"): np.ones((3, 4)), ("size",): np.full(4, 9.0)}
    assert lookup(held, ("size",)).tolist() == [9.0] * 4
    assert lookup(held, ("size", "colour")).shape == (4, 3)
    assert lookup(held, ("old",)) is None


def test_fit_answers_measured_and_unmeasured_columns():
    counts = small_counts()
    tables = {columns: counts.marginal(columns) for columns in SETS}
    model = fit(SMALL, tables, dict.fromkeys(SETS, 0.5), None, np.random.default_rng(0))
    for columns in SETS:
        assert np.abs(model.marginal(columns) - counts.marginal(columns)).max() < 25
    assert model.marginal(("colour", "old")).shape == (3, 2)
    assert abs(model.total - 5_000) < 1
    codes = model.sample(5_000, np.random.default_rng(0))
    drawn = Points(SMALL, codes, np.ones(len(codes)))
    assert np.abs(drawn.marginal(("size", "old")) - counts.marginal(("size", "old"))).max() < 30


def test_an_empty_estimate_still_gives_a_model():
    tables = {columns: np.zeros(SMALL.shape(columns), dtype=np.int64) for columns in SETS}
    model = fit(SMALL, tables, dict.fromkeys(SETS, 1.0), None, np.random.default_rng(0))
    assert model.total == 0
    assert model.sample(0, np.random.default_rng(0)).shape == (0, 3)


def test_points_count_as_much_as_noise_explains_their_distance():
    table = np.array([100.0, 200.0, 0.0, 300.0])
    assert _mixed(table, table + 8, sigma=10).tolist() == [104.0, 204.0, 4.0, 304.0]
    assert np.allclose(_mixed(table, table + 1_000, sigma=10), table, atol=1)
    assert np.array_equal(_mixed(table, table, sigma=0), table)


def test_with_little_noise_the_tables_answer_for_themselves():
    counts = small_counts()
    tables = {columns: counts.marginal(columns) for columns in [*SETS, ("colour", "old")]}
    model = fit(SMALL, tables, dict.fromkeys(tables, 0.01), None, np.random.default_rng(0))
    for columns, table in tables.items():
        assert np.abs(model.marginal(columns) - table).max() < 1
