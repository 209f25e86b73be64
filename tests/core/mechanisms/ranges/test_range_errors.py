import numpy as np
import pytest

from core.mechanisms.ranges.nested import NestedBlocks, parts_of
from core.mechanisms.ranges.range_errors import cut_parts, range_errors
from core.models.fitting.pyramid import pyramid
from core.privacy.events import Laplace
from core.privacy.unit import Unit


def nested(size, epsilon):
    blocks = pyramid((size,), 16)
    return NestedBlocks(("x",), blocks, parts_of(Laplace(epsilon), 0.85, blocks.levels))


def test_errors_fall_with_the_budget_and_rise_with_the_column():
    mean, worst = range_errors(nested(1_000, 1), Unit.row())
    assert worst > mean
    tenth = range_errors(nested(1_000, 10), Unit.row())
    assert mean / tenth[0] == pytest.approx(10, rel=0.02)
    assert range_errors(nested(60_000, 1), Unit.row())[0] > mean
    assert range_errors(nested(1_000, 1), Unit.id("who", 4))[0] == pytest.approx(4 * mean, rel=0.02)


def test_a_range_cuts_two_stretches_and_a_rectangle_those_along_its_sides():
    assert cut_parts((77,)) == 2
    generator, shape = np.random.default_rng(0), (12, 18)
    for _ in range(20):
        # Parts of two cells each, lying along the side that would be cut.
        (top, bottom), (left, right) = (np.sort(generator.integers(0, size + 1, 2)) for size in shape)
        inside = np.zeros(shape, dtype=bool)
        inside[top:bottom, left:right] = True
        flat = inside.reshape(6, 2, 18)
        upright = inside.reshape(12, 9, 2)
        cut = (flat.any(axis=1) & ~flat.all(axis=1)).sum() + (upright.any(axis=2) & ~upright.all(axis=2)).sum()
        assert cut <= 2 * cut_parts(shape)
