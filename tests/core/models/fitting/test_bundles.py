from itertools import combinations

import numpy as np
import pytest

from core.base.axes import summed
from core.models.fitting.bundles import Records, bundled

SIZES = {"a": 3, "b": 8, "c": 2, "d": 8, "e": 8, "f": 200, "g": 1, "h": 90}
PAIRS = list(combinations(SIZES, 2))


def records(count: int = 1_000) -> np.ndarray:
    generator = np.random.default_rng(0)
    return np.stack([generator.integers(0, size, count) for size in SIZES.values()], axis=1)


@pytest.mark.parametrize("most", [1, 64, 4096, 2**14])
@pytest.mark.parametrize("tables", [PAIRS, list(combinations(SIZES, 3)), [*PAIRS, ("f",), ("a", "b", "c"), ()], []])
def test_every_table_is_in_one_bundle_that_holds_its_columns_and_stays_small(most, tables):
    found = bundled(tables, SIZES, most)
    assert sorted(table for bundle in found for table in bundle.tables) == sorted(tables)
    for bundle in found:
        assert len(set(bundle.columns)) == len(bundle.columns)
        assert all(set(table) <= set(bundle.columns) for table in bundle.tables)
        cells = np.prod([SIZES[name] for name in bundle.columns], initial=1)
        assert cells <= most or bundle.tables == (bundle.columns,)


def test_tables_of_small_columns_share_passes():
    equal = {f"x{place}": 8 for place in range(20)}
    found = bundled(combinations(equal, 2), equal, 4096)
    assert len(found) == 55  # ten groups of two columns: 45 pairs of groups with four tables each, and ten single pairs


@pytest.mark.parametrize("tables", [PAIRS, [("a", "b", "e"), ("e", "a"), ("h", "f"), ("d",), ()]])
def test_counts_through_bundles_are_the_counts_of_the_records(tables):
    codes, weights = records(), np.random.default_rng(1).random(1_000)
    counted = Records(codes, SIZES)
    for bundle in counted.bundles(tables):
        joint = counted.joint(bundle, counted.places(bundle), weights)
        for columns in bundle.tables:
            expected = np.zeros([SIZES[name] for name in columns])
            for code, weight in zip(codes[:, [list(SIZES).index(name) for name in columns]], weights, strict=True):
                expected[tuple(code)] += weight
            assert np.allclose(summed(joint, bundle.columns, columns), expected)


def test_few_records_are_not_laid_into_large_joint_tables():
    for bundle in Records(records(200), SIZES).bundles(PAIRS):
        assert len(bundle.tables) == 1 or np.prod([SIZES[name] for name in bundle.columns]) <= 25
