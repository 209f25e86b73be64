"""Public tables in the place of a private one: as many rows as declared, and the same ones every time."""

from __future__ import annotations

import numpy as np
import pytest

from core.base.errors import BadParameter
from core.planning.simulation.stand_ins import DRAWN, StandIns, rounded_rows
from core.privacy.unit import Unit
from core.schema.domain import Domain, Integers
from core.table.stand_in import StandIn

DOMAIN = Domain((Integers(name="a", low=0, high=9), Integers(name="b", low=0, high=4)))


@pytest.mark.parametrize("rows", [1, 99, 1_300, 200_000, 10**9])
def test_they_have_the_declared_rows(rows: int) -> None:
    table = StandIns.of(DOMAIN, Unit.row("replace"), rows).table(0)
    assert table.public_rows == table.marginal(()).sum() == pytest.approx(rows, rel=1e-3)
    codes, counted = table.combinations(("a", "b"))
    assert counted.sum() == table.public_rows and len(codes) <= min(rows, 50)
    assert table.project(("b",)).marginal(("b",)).tolist() == table.marginal(("b",)).tolist()


def test_close_guesses_share_their_tables() -> None:
    assert rounded_rows(30_442) == 30_000
    first, second = (StandIns.of(DOMAIN, Unit.row(), rows) for rows in (30_442, 30_100))
    assert first.key == second.key
    assert first.table(1).marginal(("a",)).tolist() == second.table(1).marginal(("a",)).tolist()
    assert first.table(0).marginal(("a",)).tolist() != first.table(1).marginal(("a",)).tolist()


@pytest.mark.parametrize("rows", [0, -1, 10**11, 1.5, True])
def test_bad_numbers_of_rows_are_named(rows: object) -> None:
    with pytest.raises(BadParameter, match="rows"):
        StandIns.of(DOMAIN, Unit.row(), rows)


def test_rows_are_drawn_from_a_sample() -> None:
    sample = StandIn(DOMAIN, np.array([[3, 1], [3, 2], [4, 1]]), Unit.row())
    public = StandIns.from_samples(DOMAIN, Unit.row(), 3 * DRAWN, [sample], "a public sample")
    counted = public.table(0).marginal(("a",))
    assert counted.sum() == 3 * DRAWN and set(np.flatnonzero(counted)) == {3, 4}
    assert public.sentence == f"a public sample of {3 * DRAWN:,} rows"
    assert public.project(DOMAIN.project(("b",))).table(0).domain.names == ("b",)


def test_the_key_tells_everything_apart_that_matters() -> None:
    usual = StandIns.of(DOMAIN, Unit.row(), 100)
    others = [
        StandIns.of(DOMAIN, Unit.row(), 200),
        StandIns.of(DOMAIN, Unit.id("p", 3), 100),
        StandIns.of(DOMAIN.project(("a",)), Unit.row(), 100),
        StandIns.of(DOMAIN, Unit.row(), 100, {"b": (1, 1, 1, 1, 2)}),
        StandIns.from_samples(DOMAIN, Unit.row(), 100, [StandIn(DOMAIN, np.zeros((2, 2), int), Unit.row())], ""),
    ]
    assert len({each.key for each in (usual, *others)}) == 6


def test_the_first_table_of_each_kind_is_at_hand_and_is_the_one_that_would_be_drawn() -> None:
    public, again = (StandIns.of(DOMAIN, Unit.row(), 500) for _ in range(2))
    for place in range(public.kinds):
        assert public.table(place) is public.table(place)
        assert public.table(place).marginal(("a", "b")).tolist() == again.table(place).marginal(("a", "b")).tolist()
    assert public.table(public.kinds) is not public.table(public.kinds)
