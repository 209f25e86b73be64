"""Blocks over stretches: what nests, how wide stretches count, and what each level gets."""

from fractions import Fraction

import numpy as np
import pytest

from core.mechanisms.ranges.stretches import TOP, level_weights, stretch_blocks, stretch_pyramid
from core.models.fitting.pyramid import Pyramid
from core.privacy.events import Gaussian, Laplace


def random_starts(size: int, number: int, seed: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    return np.append(0, 1 + np.sort(generator.choice(size - 1, number - 1, replace=False)))


@pytest.mark.parametrize("number", [1, 2, 23, 24, 100, 700, 5_000])
@pytest.mark.parametrize("branching", [2, 16])
def test_levels_nest_and_end_in_the_stretches(number, branching):
    starts = random_starts(2**14, number, number)
    blocks = stretch_pyramid(starts, 2**14, branching)
    assert blocks.starts[-1][0].tolist() == starts.tolist()
    for (above,), (below,) in zip(blocks.starts, blocks.starts[1:], strict=False):
        assert above[0] == 0 and set(above.tolist()) < set(below.tolist())
    assert sum(int((family >= 0).sum()) for family in blocks.families) == sum(
        len(each) for (each,) in blocks.starts[1:]
    )
    if number == 5_000:
        assert blocks.levels > 1 and len(blocks.starts[0][0]) == TOP


def test_cells_of_one_width_are_cut_evenly():
    blocks = stretch_pyramid(np.arange(24 * 16 * 10), 24 * 16 * 10, 16)
    assert [np.unique(np.diff(each)).tolist() for (each,) in blocks.starts] == [[160], [10], [1]]


def test_wide_stretches_share_their_block_with_few_others():
    # 400 cells, each with a weight of 1, between two stretches with one of 16 each: a block has about 18.
    starts = np.concatenate([[0], 2**16 + np.arange(401)])
    (top,) = stretch_pyramid(starts, 2**17 + 400, 16).starts[0]
    inside = np.diff(np.searchsorted(starts, top), append=len(starts))
    assert inside[0] <= 3 and inside[-1] <= 10 and inside[1:-1].min() >= 16


def test_weights_are_the_squares_of_random_ranges():
    """One level of noise over equal cells: the mean number of cells in a range is N/3, and the weight is half of it."""
    assert level_weights(Pyramid((600,), ((np.arange(600),),)))[0] == pytest.approx(100, rel=1e-3)
    # Parts of blocks: each end is in one block of 20, whose 20 parts have 20/6 together.
    nested = Pyramid((400,), ((np.arange(0, 400, 20),), (np.arange(400),)))
    assert level_weights(nested) == pytest.approx([20 / 6, 20 / 6], rel=1e-2)


@pytest.mark.parametrize("event", [Laplace(Fraction(3, 7)), Gaussian(Fraction(3, 7))])
def test_levels_get_the_whole_event_and_wide_levels_more(event):
    starts = np.arange(24 * 160)
    nested = stretch_blocks(("x",), starts, starts.size, event, 16)
    amounts = [getattr(each, "epsilon", None) or each.rho for each in nested.events]
    assert sum(amounts) == Fraction(3, 7)
    weights = level_weights(nested.pyramid)
    power = 1 / 3 if isinstance(event, Laplace) else 1 / 2
    assert np.array(amounts, dtype=float) / float(amounts[0]) == pytest.approx(
        (weights / weights[0]) ** power, rel=1e-4
    )
