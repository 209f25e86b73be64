"""The theorems about intervals, rectangles and halfspaces."""

from __future__ import annotations

import numpy as np
import pytest

from core.mechanisms.ranges.interval_search import IntervalSearch
from core.mechanisms.ranges.rectangle_search import RectangleSearch
from core.privacy.budget import Budget
from core.queries.intervals import Intervals
from core.queries.rectangles import Rectangles
from core.schema.domain import Domain, Integers
from core.table.counts import Cells
from core.theory import HalfspacesBound as HalfspacesBound
from core.theory import IntervalsBound as IntervalsBound
from core.theory import RectanglesBound as RectanglesBound
from tests.privacy.bounds.failing import NOISE, PUBLIC, RUNS, failures, spread, surely_above

COLUMN = Domain((Integers(name="x", low=0, high=15),))
PLANE = Domain((Integers(name="x", low=0, high=7), Integers(name="y", low=0, high=7)))


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=1)
@pytest.mark.parametrize("shape", ["slope", "one value"])
def test_interval_search(shape):
    place = np.arange(16.0)
    weights = {"slope": place, "one value": 1.0 * (place == 9)}[shape]
    query = Intervals(column="x")
    rows = IntervalsBound(bits=4, beta=0.2).rows(0.4, 1)
    counts = Cells(COLUMN, spread(rows, list(weights)), PUBLIC)
    mechanism = IntervalSearch(queries=(query,), budget=Budget(1), accuracy=0.4, beta=0.2)
    assert not surely_above(failures(mechanism, counts, query, 0.4), RUNS, 0.2)


@pytest.mark.exhaustive
def test_rectangle_search():
    x, y = np.mgrid[0:8, 0:8]
    weights = 2.0 ** -(x + y)
    query = Rectangles(columns=("x", "y"))
    rows = RectanglesBound(bits=(3, 3), beta=0.2).rows(0.5, 1)
    counts = Cells(PLANE, spread(rows, list(weights.ravel())), PUBLIC)
    mechanism = RectangleSearch(queries=(query,), budget=Budget(1), accuracy=0.5)
    assert not surely_above(failures(mechanism, counts, query, 0.5), RUNS, 0.2)


@pytest.mark.exhaustive
def test_halfspace_projections():
    """The theorem's rows are out of reach, its k is not: distances to a halfspace survive projection (theorem 6.4)."""
    alpha, margin = 0.8, 0.8
    dimension = HalfspacesBound(dimensions=8, bits=4, margin=margin).projected(alpha)
    public = NOISE.generator()
    normals, points = public.normal(size=(2, RUNS, 1, 8))
    signs = public.choice(np.array([-1, 1], dtype=np.float32), (RUNS, 8, dimension))

    def mistakes(matrices: np.ndarray) -> int:
        """Distances that change by a quarter of the margin; the theorem allows alpha/8 of them."""
        moved = np.abs(cosine(normals @ matrices, points @ matrices) - cosine(normals, points))
        return int((moved >= margin / 4).sum())

    assert not surely_above(mistakes(signs), RUNS, alpha / 8)
    assert surely_above(mistakes(signs[:, :, :4]), RUNS, alpha / 8), "four dimensions are too few"


def cosine(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """What B calls the distance of a point and a halfspace, as a length along the last axis."""
    product = (first * second).sum(axis=-1)
    return np.abs(product) / np.sqrt((first**2).sum(axis=-1) * (second**2).sum(axis=-1))
