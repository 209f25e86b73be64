"""A mixture of databases: means of what its members answer, and records of all of them together."""

from __future__ import annotations

import numpy as np
import pytest

from core.models.nets.mixture import DatabaseMixture
from core.models.nets.public_net import PublicNet, most_rows, multisets, random_net, rounded_to
from core.models.points import Points
from core.queries.intervals import Intervals
from core.queries.lipschitz import Lipschitz
from core.queries.marginals import Marginals
from tests.core.samples import SMALL

LARGEST = Lipschitz(columns=("colour", "old"), statistics=(("largest",), ("top", 2)))
CLASSES = (Marginals(order=2), Intervals(column="size"), LARGEST)


def mixture(members: int = 40, rows: int = 10) -> DatabaseMixture:
    generator = np.random.default_rng(2)
    shares = generator.random(members)
    return DatabaseMixture(SMALL, random_net(24, members, rows, generator), shares / shares.sum(), 1_000.0)


def databases(model: DatabaseMixture) -> list[Points]:
    codes = (np.stack(np.unravel_index(line, SMALL.shape()), axis=1) for line in model.members)
    return [Points(SMALL, each, np.ones(len(each))) for each in codes]


@pytest.mark.parametrize("query", CLASSES, ids=lambda query: query.name)
def test_answers_are_means_of_the_members_answers(query):
    model = mixture()
    every = np.stack([np.asarray(query.totals(database)) for database in databases(model)])
    expected = model.shares @ every * 100
    np.testing.assert_allclose(model.totals_for(query), expected)
    asked = query.statistic(SMALL, 1) if query is LARGEST else query.member(SMALL, 1)
    assert model.total_for(asked) == pytest.approx(expected[1])
    if query is LARGEST:
        np.testing.assert_allclose(query.answers(model), expected / 1_000)
        assert not np.allclose(query.totals(model), expected), "the fullest cell of a mixture is another number"
    else:
        np.testing.assert_allclose(query.totals(model), expected)


def test_tables_and_records_are_those_of_all_members_together():
    model = mixture()
    assert float(model.marginal(())) == pytest.approx(1_000)
    np.testing.assert_allclose(model.marginal(("old", "size")), model.points.marginal(("old", "size")))
    drawn = Points(SMALL, model.sample(20_000, np.random.default_rng(1)), np.full(20_000, 0.05))
    np.testing.assert_allclose(drawn.marginal(("size",)), model.marginal(("size",)), atol=20)


@pytest.mark.parametrize(("cells", "rows"), [(2, 3), (3, 2), (4, 10), (5, 4)])
def test_some_database_is_as_near_as_rounding_brings_it(cells, rows):
    generator, worst = np.random.default_rng(3), 0.0
    net = np.stack([np.bincount(line, minlength=cells) for line in PublicNet(cells, rows).listed(generator)]) / rows
    halves = (np.arange(cells) < 2 * (cells // 2)) / 2  # as many rows as fit, and half of one more in each cell
    spare = np.array([rows - halves.sum(), *[0.0] * (cells - 1)])
    for table in (*generator.dirichlet(np.full(cells, 0.7), 300), (halves + spare) / rows):
        worst = max(worst, np.abs(net - table).sum(axis=1).min() / 2)
    assert 0.5 * rounded_to(cells, rows) < worst <= rounded_to(cells, rows) + 1e-12


def test_as_many_rows_as_can_be_listed():
    assert multisets(4, most_rows(4, 10_000)) <= 10_000 < multisets(4, most_rows(4, 10_000) + 1)
    assert most_rows(1, 10) == most_rows(2, 10_000) == 256 and most_rows(2**70, 10) == 1


def test_a_net_lists_what_it_counts():
    generator = np.random.default_rng(0)
    for net in (PublicNet(5, 3), PublicNet(5, 3, 7)):
        assert net.listed(generator).shape == (net.count, 3)
    assert PublicNet(5, 3).complete and not PublicNet(5, 3, 7).complete
