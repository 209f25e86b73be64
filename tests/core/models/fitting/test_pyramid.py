import numpy as np
import pytest
from scipy.optimize import isotonic_regression

from core.models.fitting.pyramid import gather, nonnegative, pyramid, rising, sparse
from core.models.fitting.simplex import simplex
from tests.blocks import block_sums

SHAPES = [(1,), (2,), (7,), (16,), (17,), (40,), (5, 9), (6, 2, 3)]


@pytest.mark.parametrize("shape", SHAPES)
def test_levels_are_nested_sums_of_the_cells(shape):
    table = np.random.default_rng(0).integers(0, 100, shape)
    blocks = pyramid(shape, 3)
    sums = block_sums(blocks, table)
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
    return [
        np.stack([block_sums(blocks, cell)[level].ravel() for cell in cells], axis=1) for level in range(blocks.levels)
    ]


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
    # with a known total: the same problem with one exact equation
    total = free.sum() + 7
    exact = np.concatenate([scaled, 1e6 * np.ones((1, scaled.shape[1]))])
    held = np.linalg.lstsq(exact, np.append(target, 1e6 * total), rcond=None)[0]
    for settle in (nonnegative, rising) if len(shape) == 1 else (nonnegative,):
        assert np.allclose(settle(estimate, total).ravel(), held, atol=1e-3)
        assert np.allclose(settle(estimate, free.sum()).ravel(), free)


@pytest.mark.parametrize("size", [1, 2, 7, 16, 17, 40])
@pytest.mark.parametrize("total", [0.0, -3.0, 50.0])
def test_rising_splits_the_total_without_negatives(size, total):
    generator = np.random.default_rng(2)
    blocks = pyramid((size,), 3)
    noisy = [generator.normal(0, 10, blocks.grid(level)) for level in range(blocks.levels)]
    cells = rising(gather(blocks, noisy, [1.0] * blocks.levels), total)
    assert cells.min() >= 0
    assert np.isclose(cells.sum(), max(total, 0))


def test_rising_regresses_the_running_sums_of_the_top_blocks():
    generator = np.random.default_rng(4)
    noisy = generator.normal(2, 10, 6)
    estimate = gather(pyramid((6,), 6), [noisy], [3.0])
    running = np.cumsum(noisy + (20 - noisy.sum()) / 6)[:5]
    places = np.arange(1, 6)
    expected = np.clip(isotonic_regression(running, weights=1 / (places * (6 - places))).x, 0, 20)
    assert (np.diff(running) < 0).any()
    assert np.allclose(np.cumsum(rising(estimate, 20.0)), [*expected, 20])


def test_rising_splits_top_blocks_like_nonnegative():
    generator = np.random.default_rng(5)
    blocks = pyramid((12,), 4, 3)
    estimate = gather(blocks, [np.array([30.0, 10.0, 50.0]), generator.normal(2, 10, 12)], [1e-9, 1.0])
    assert blocks.grid(0) == (3,)
    assert np.allclose(rising(estimate, 90.0), nonnegative(estimate, 90.0))


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
    estimate = gather(blocks, block_sums(blocks, table), [2.0] * blocks.levels)
    assert np.allclose(nonnegative(estimate, table.sum()), table)
    line = pyramid((77,), 4)
    estimate = gather(line, block_sums(line, table.ravel()), [2.0] * line.levels)
    assert np.allclose(rising(estimate, table.sum()), table.ravel())


@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize("total", [0.0, 3.0, 500.0])
def test_sparse_splits_the_total_without_negatives(level, total):
    blocks = pyramid((60,), 4, 4)
    noisy = [np.random.default_rng(3).normal(2, 4, blocks.grid(each)) for each in range(blocks.levels)]
    cells = sparse(gather(blocks, noisy, [16.0] * blocks.levels), total, level)
    assert cells.shape == (60,) and cells.min() >= 0
    assert cells.sum() == pytest.approx(total)


def test_sparse_leaves_empty_blocks_less_than_the_nearest_split_does():
    blocks = pyramid((24 * 16,), 16, 24)
    truth = np.zeros(24 * 16)
    truth[100] = 5_000
    sums = [np.add.reduceat(truth, starts) for (starts,) in blocks.starts]
    left = {sparse: 0.0, nonnegative: 0.0}
    for seed in range(20):
        noise = np.random.default_rng(seed)
        noisy = [each + noise.laplace(0, 10, each.shape) for each in sums]
        estimate = gather(blocks, noisy, [200.0] * blocks.levels)
        for settle in left:
            cells = settle(estimate, 5_000.0)
            left[settle] += cells.sum() - cells[96:112].sum()
    # 0.4 of it, give or take a tenth.
    assert left[sparse] < 0.6 * left[nonnegative]
