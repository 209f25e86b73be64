"""Interactions in place of tables: chosen where they need less noise, and joined with what single columns say."""

from __future__ import annotations

import numpy as np
import pytest

from core.base.axes import centred
from core.kernel.interactions import Interaction
from core.kernel.kernel import Kernel
from core.kernel.tables import Marginal
from core.mechanisms.kit.portions import Noisy, Portion
from core.mechanisms.tree.interactions import BestAsked, measure
from core.models.fitting.consistency import agree
from core.privacy.events import Cost, Gaussian, Laplace
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.schema.domain import Domain, Integers
from core.table.counts import Cells

DOMAIN = Domain(
    tuple(Integers(name=name, low=0, high=high) for name, high in (("a", 1), ("b", 1), ("c", 4), ("d", 39)))
)
PAIR = ("a", "c")


def best(columns, pure=False, unit=Unit.row()) -> BestAsked:  # noqa: B008 (frozen)
    return BestAsked.of(columns, DOMAIN, unit, pure)


def test_the_choice_is_public_and_follows_the_noise():
    assert best(("a", "b")).gain == pytest.approx(0.25)
    assert best(("a", "b"), pure=True).gain == pytest.approx(0.25)
    assert best(("a", "b"), unit=Unit.row("replace")).gain == pytest.approx(0.25 * np.sqrt(2))
    assert best(PAIR).gain == pytest.approx(0.5 * 0.8)
    assert best(("a",)).gain == pytest.approx(0.5)
    assert isinstance(best(("d",)).asked, Marginal) and best(("d",)).gain == 1
    assert isinstance(best(("c",), pure=True).asked, Marginal)
    assert isinstance(best(("a",), unit=Unit.row("replace")).asked, Marginal), "the sum is public there: nothing gained"
    assert isinstance(best(("a", "b", "c")).asked, Marginal)


@pytest.mark.exhaustive
@pytest.mark.parametrize("event", [Gaussian(1), Laplace(1)], ids=str)
@pytest.mark.parametrize("columns", [("a", "b"), PAIR, ("a",)], ids=str)
def test_measured_interactions_have_no_sums_and_the_noise_they_say(event, columns):
    table = np.random.default_rng(0).integers(0, 90, DOMAIN.project(("a", "b", "c")).shape())
    domain = DOMAIN.project(("a", "b", "c"))
    cells, times = Cells(domain, table), 400
    kernel, pure = Kernel(cells, Noise(), Cost((event,) * times)), isinstance(event, Laplace)
    truth, off = centred(cells.marginal(columns).astype(float)), []
    for _ in range(times):
        found = measure(kernel, [Portion(columns, event)], pure)
        assert found.residual == {columns}
        for axis in range(len(columns)):
            assert np.allclose(found.tables[columns].sum(axis=axis), 0)
        off.append(found.tables[columns] - truth)
    assert np.sqrt(np.mean(np.square(off))) == pytest.approx(found.sigmas[columns], rel=0.2)
    assert np.abs(np.mean(off)) < 0.2 * found.sigmas[columns]
    assert isinstance(BestAsked.of(columns, domain, Unit.row(), pure).asked, Interaction)


def test_sums_of_an_interaction_come_from_the_single_columns():
    table = np.array([[5.0, 1.0, 3.0], [2.0, 8.0, 1.0]])
    tables = {("a",): table.sum(axis=1), ("c",): table.sum(axis=0), PAIR: centred(table)}
    found = agree(tables, {("a",): 9.0, ("c",): 9.0, PAIR: 0.1}, table.sum(), {PAIR})
    for columns, wanted in ((("a",), table.sum(axis=1)), (("c",), table.sum(axis=0)), (PAIR, table)):
        assert np.allclose(found[columns], wanted)


def test_an_interaction_and_a_table_of_the_same_columns_are_joined():
    table = np.array([[5.0, 1.0], [2.0, 8.0]])
    whole, part = Noisy({PAIR: table + 1}, {PAIR: 2.0}), Noisy({PAIR: centred(table)}, {PAIR: 2.0}, frozenset([PAIR]))
    for both in (whole.joined(part), part.joined(whole)):
        assert np.allclose(both.tables[PAIR], table + 1) and not both.residual
    twice = part.joined(Noisy({PAIR: -centred(table)}, {PAIR: 2.0}, frozenset([PAIR])))
    assert (
        np.allclose(twice.tables[PAIR], 0) and twice.residual == {PAIR} and twice.sigmas[PAIR] == pytest.approx(2**0.5)
    )
    assert part.joined(Noisy({("a",): table[0]}, {("a",): 1.0})).residual == {PAIR}
