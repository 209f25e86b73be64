import numpy as np

from core.models.histogram import Histogram
from core.models.points import Points
from core.models.widened import Widened, widened
from core.queries.kit.focus import asked_columns
from core.queries.lipschitz import Lipschitz
from core.queries.marginals import Marginals
from core.table.views import Projected
from tests.core.samples import SMALL, small_cells, small_counts

PAIR = SMALL.project(("colour", "old"))


def test_only_asked_columns_are_kept_in_the_order_of_the_schema():
    assert asked_columns([Marginals(sets=(("old",), ("old", "colour")))], SMALL) == PAIR
    assert asked_columns([Marginals(order=2)], SMALL) is SMALL
    assert asked_columns([Lipschitz(columns=("size",))], SMALL).names == ("size",)


def test_focused_counts_are_the_same_counts():
    counts = small_counts()
    focused = Projected(counts, PAIR)
    assert np.array_equal(focused.marginal(("old",)), counts.marginal(("old",)))
    assert np.array_equal(focused.combinations(("colour",))[1], counts.combinations(("colour",))[1])
    assert focused.unit == counts.unit


def test_other_columns_are_uniform():
    inner = Histogram(PAIR, small_cells().sum(axis=1))
    model = widened(SMALL, inner)
    assert isinstance(model, Widened)
    assert np.allclose(model.marginal(("size",)), 1250)
    assert np.allclose(model.marginal(("old", "size", "colour")).sum(axis=1), inner.marginal(("old", "colour")))
    codes = model.sample(4_000, np.random.default_rng(0))
    drawn = Points(SMALL, codes, np.ones(len(codes)))
    assert np.abs(drawn.marginal(("colour", "old")) - 0.8 * inner.cells).max() < 1
    assert np.abs(drawn.marginal(("size",)) - 1_000).max() < 150
    assert widened(PAIR, inner) is inner
