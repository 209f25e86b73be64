from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from core.kernel.halfspaces import STEPS
from core.kernel.kernel import Kernel
from core.kernel.noise_level import NoiseLevel
from core.mechanisms.halfspaces.moments import moments, noise_in_rows, shape_of
from core.privacy.events import Cost, Gaussian, Laplace
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.queries.halfspaces import Halfspaces
from core.schema.domain import Domain, Integers
from core.table.counts import Cells
from tests.core.mechanisms.replay import UNITS

LAPLACE, GAUSSIAN = Laplace(Fraction(1)), Gaussian(Fraction(1))
QUERY = Halfspaces(translated=False)


def box(columns, size=3, missing=False):
    return Domain(tuple(Integers(name=f"c{k}", low=0, high=size - 1, missing=missing) for k in range(columns)))


def sums_of_rows(asked, domain):
    """What one row of each kind adds."""
    cells = np.eye(domain.cells(), dtype=np.int64)
    return np.array([asked.counts(Cells(domain, cell)) for cell in cells], dtype=float)


def measured(counts, event, cross, public=None):
    asked = moments(QUERY.space(counts.domain), event, cross)
    return shape_of(asked, Kernel(counts, Noise(), Cost((event,))).measure(asked, event), public)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("cross", [True, False])
@pytest.mark.parametrize("columns", [1, 2, 3])
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("event", [LAPLACE, GAUSSIAN])
def test_sensitivity_covers_every_pair_of_rows_and_is_tight(event, unit, columns, cross, missing):
    """A unit's rows all alike are the worst case: every norm is largest at the corners of its ball."""
    domain = box(columns, missing=missing)
    asked = moments(QUERY.space(domain), event, cross)
    rows = np.vstack([sums_of_rows(asked, domain), 0 * asked.places[0]])
    if unit.neighbours == "add-remove":
        changes = unit.limit * rows
    else:
        changes = unit.limit * (rows[:, None] - rows[None]).reshape(-1, rows.shape[1])
    most = np.abs(changes).sum(axis=1).max(), (changes**2).sum(axis=1).max()
    declared = asked.change(unit).l1, asked.change(unit).l2_squared
    assert most[0] <= declared[0] and most[1] <= declared[1]
    if unit.neighbours == "add-remove":
        assert most == declared
    else:
        used = 0 if event is LAPLACE else 1
        assert most[used] > 0.5 * declared[used]


@pytest.mark.parametrize("columns", [1, 2, 4, 5, 9, 10, 20, 100, 255])
@pytest.mark.parametrize("cross", [True, False])
def test_two_rows_never_have_a_negative_product(columns, cross):
    """The squared L2 bound of a replacement rests on it; the worst pair has opposite corners or equal ones."""
    asked = moments(QUERY.space(box(columns)), GAUSSIAN, cross)
    lines, others = asked.places
    generator = np.random.default_rng(0)
    for flipped, size in product({0, 1, columns // 2, columns}, (0.3, 1.0)):
        first = np.concatenate([[asked.constant], generator.choice([-1, 1], columns)]).astype(float)
        second = first.copy()
        second[1 : 1 + flipped] *= -size
        assert ((first[lines] * first[others]) @ (second[lines] * second[others])) >= 0


@pytest.mark.parametrize("cross", [True, False])
@pytest.mark.parametrize("event", [Laplace(Fraction(1000)), Gaussian(Fraction(10**5))])
def test_the_shape_is_the_mean_and_covariance(event, cross):
    domain = box(2, size=41)
    generator = np.random.default_rng(0)
    points = generator.multivariate_normal([24, 15], [[40, 20], [20, 30]], 100_000)
    codes = np.clip(np.rint(points), 0, 40).astype(int)
    counts = Cells(domain, np.bincount(codes @ [41, 1], minlength=domain.cells()))
    shape = measured(counts, event, cross)
    scaled = codes / 20 - 1
    expected = np.cov(scaled.T) if cross else np.diag(scaled.var(axis=0))
    assert shape.rows == pytest.approx(100_000, rel=1e-3)
    assert shape.mean == pytest.approx(scaled.mean(axis=0), abs=2 / STEPS)
    assert shape.factor @ shape.factor.T == pytest.approx(expected, abs=2 / STEPS)
    assert shape.spread(np.eye(2)) == pytest.approx(np.sqrt(np.diag(expected)), abs=2 / STEPS)


def test_noise_alone_gives_a_shape_of_bounded_size():
    counts = Cells(box(4), np.zeros(81, dtype=np.int64))
    for _ in range(50):
        shape = measured(counts, Laplace(Fraction(1, 100)), True)
        assert shape.rows >= 1 and np.abs(shape.mean).max() <= 1
        assert np.isfinite(shape.factor).all() and 0 < np.abs(shape.factor).max() <= 2


def test_noise_is_told_in_rows():
    """One column, constant 1, one row more: 1 + 1 + 1 in L1."""
    asked = moments(QUERY.space(box(1)), LAPLACE, True)
    assert noise_in_rows(NoiseLevel.of(asked, LAPLACE, Unit.row())) == pytest.approx(3 * 2**0.5)


def test_public_rows_are_used():
    counts = Cells(box(1), np.array([5, 5, 5]), Unit.row("replace"))
    assert measured(counts, LAPLACE, True, public=15).rows == 15
