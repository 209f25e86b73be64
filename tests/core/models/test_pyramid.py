import numpy as np
import pytest
from scipy.optimize import isotonic_regression

from core.models.projection import simplex
from core.models.pyramid import gather, monotone, nonnegative, pyramid

SHAPES = [(1,), (2,), (7,), (16,), (17,), (40,), (5, 9), (6, 2, 3)]


@pytest.mark.parametrize("shape", SHAPES)
def test_levels_are_nested_sums_of_the_cells(shape):
    table = np.random.default_rng(0).integers(0, 100, shape)
    blocks = pyramid(shape, 3)
    sums = blocks.sums(table)
    assert np.array_equal(sums[-1], table)
    assert all(level.dtype == np.int64 and level.sum() == table.sum() for level in sums)
    assert all(size <= 3 for size in sums[0].shape)
    for above, below, family in zip(sums, sums[1:], blocks.families, strict=False):
        members = np.where(family >= 0, below.ravel()[family], 0)
        assert np.array_equal(members.sum(axis=1), above.ravel())
        assert sorted(family[family >= 0]) == list(range(below.size))
        assert family.shape[1] <= 3 ** len(shape)


def test_few_levels_with_a_wide_top_and_balanced_parts_below():
    assert [pyramid((1024,), 16).grid(level) for level in range(3)] == [(16,), (128,), (1024,)]
    assert [pyramid((256,), 4, 8).grid(level) for level in range(4)] == [(8,), (29,), (86,), (256,)]
    assert [pyramid((1024,), 16, 8).grid(level) for level in range(3)] == [(8,), (94,), (1024,)]
    assert [pyramid((size,), 16, 8).grid(0) for size in (9, 250, 4096)] == [(9,), (16,), (16,)]
    assert pyramid((4096,), 16).levels == 3
    assert pyramid((16,), 16).levels == 1


def blocks_matrix(blocks):
    """One line per block of every level, one column per cell: 1 where the cell lies in the block."""
    cells = np.eye(int(np.prod(blocks.shape))).reshape((-1, *blocks.shape))
    return [np.stack([blocks.sums(cell)[level].ravel() for cell in cells], axis=1) for level in range(blocks.levels)]


@pytest.mark.parametrize("shape", SHAPES)
def test_dense_counts_get_the_least_squares_estimate(shape):
    generator = np.random.default_rng(1)
    blocks = pyramid(shape, 3)
    matrix = blocks_matrix(blocks)
    variances = list(generator.uniform(0.5, 4, blocks.levels))
    noisy = [1e3 * lines.sum(axis=1) + generator.normal(0, 10, len(lines)) for lines in matrix]
    estimate = gather(blocks, noisy, variances)
    scaled = np.concatenate([lines / v**0.5 for lines, v in zip(matrix, variances, strict=True)])
    target = np.concatenate([level / v**0.5 for level, v in zip(noisy, variances, strict=True)])
    free = np.linalg.lstsq(scaled, target, rcond=None)[0]
    assert np.isclose(estimate.values[0].sum(), free.sum())
    if len(shape) == 1:
        # with a known total: the same problem with one exact equation
        total = free.sum() + 7
        exact = np.concatenate([scaled, 1e6 * np.ones((1, scaled.shape[1]))])
        held = np.linalg.lstsq(exact, np.append(target, 1e6 * total), rcond=None)[0]
        assert np.allclose(monotone(estimate, total), held, atol=1e-3)
        assert np.allclose(monotone(estimate, free.sum()), free)


@pytest.mark.parametrize("size", [1, 2, 7, 16, 17, 40])
@pytest.mark.parametrize("total", [0.0, -3.0, 50.0])
def test_monotone_splits_the_total_without_negatives(size, total):
    generator = np.random.default_rng(2)
    blocks = pyramid((size,), 3)
    noisy = [generator.normal(0, 10, blocks.grid(level)) for level in range(blocks.levels)]
    cells = monotone(gather(blocks, noisy, [1.0] * blocks.levels), total)
    assert cells.min() >= 0
    assert np.isclose(cells.sum(), max(total, 0))


def test_monotone_regresses_the_running_sums_of_every_block():
    generator = np.random.default_rng(4)
    noisy = generator.normal(2, 10, 12)
    blocks = pyramid((12,), 4, 3)
    estimate = gather(blocks, [np.array([30.0, 0.0, 50.0]), noisy], [1e-9, 1.0])
    expected = []
    for line, count in zip(noisy.reshape(3, 4), (30.0, 0.0, 50.0), strict=True):
        running = np.clip(isotonic_regression(np.cumsum(line + (count - line.sum()) / 4)).x, 0, count)
        running[-1] = count
        expected.extend(np.diff(running, prepend=0.0))
    assert blocks.grid(0) == (3,)
    assert np.allclose(monotone(estimate, 80.0), expected, atol=1e-4)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("total", [0.0, -3.0, 50.0])
def test_nonnegative_splits_the_total_without_negatives(shape, total):
    generator = np.random.default_rng(2)
    blocks = pyramid(shape, 3)
    noisy = [generator.normal(0, 10, blocks.grid(level)) for level in range(blocks.levels)]
    table = nonnegative(gather(blocks, noisy, [1.0] * blocks.levels), total)
    assert table.shape == shape
    assert table.min() >= 0
    assert np.isclose(table.sum(), max(total, 0))


def test_one_level_is_the_simplex_projection():
    noisy = np.array([5.0, -3.0, 2.0, 0.5])
    blocks = pyramid((4,), 16)
    assert np.allclose(nonnegative(gather(blocks, [noisy], [1.0]), 6.0), simplex(noisy, 6.0))


def test_nonnegative_keeps_a_table_that_is_already_consistent():
    table = np.random.default_rng(3).integers(0, 9, (11, 7))
    blocks = pyramid(table.shape, 4)
    estimate = gather(blocks, blocks.sums(table), [2.0] * blocks.levels)
    assert np.allclose(nonnegative(estimate, table.sum()), table)
    line = pyramid((77,), 4)
    estimate = gather(line, line.sums(table.ravel()), [2.0] * line.levels)
    assert np.allclose(monotone(estimate, table.sum()), table.ravel())
