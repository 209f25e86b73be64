"""What a sparse vector compares, number by number: beside exact arithmetic, at every bound."""

from __future__ import annotations

from decimal import Context, Decimal, localcontext
from itertools import combinations_with_replacement

import numpy as np
import pytest

from core.base.errors import BadParameter
from core.kernel.compared import FURTHEST, GRID, MOST_ROWS, WIDEST, Gap, Loss, on_grid
from core.kernel.disjoint import DisjointQueries
from core.kernel.query import Query, Statistic
from core.privacy.unit import Unit
from core.queries.lipschitz import Lipschitz
from core.schema.domain import Booleans, Domain, Integers
from core.table.counts import Cells

DOMAIN = Domain((Booleans(name="old"),))
YES = Query(columns=("old",), weights=np.array([0, 1]), words="old")


def rows(yes: int) -> Cells:
    return Cells(DOMAIN, np.array([5, yes]))


def test_open_sessions_rely_on_these_steps():
    """Thresholds and offsets of sessions that are kept are counted in them."""
    assert (GRID, FURTHEST, MOST_ROWS, WIDEST) == (65_536, 2**61, 2.0**44, 2**46)


def test_totals_come_to_the_grid_rounded_down():
    assert [on_grid(total, 2**17) for total in (-3, -1, 0, 1, 2, 3, 4)] == [-2, -1, 0, 0, 1, 1, 2]
    assert on_grid(3, 1) == 3 * GRID


@pytest.mark.parametrize(("sign", "gap"), [(0, 2), (1, -2), (-1, 2)])
def test_a_gap_has_the_sign_that_is_asked(sign: int, gap: int):
    assert Gap(YES, 9 * GRID, sign).value(rows(7)) == gap * GRID
    for guess in (9, 5):
        assert Gap(YES, guess * GRID).value(rows(7)) == 2 * GRID, "without a sign its size is compared"


@pytest.mark.parametrize("sign", [0, 1, -1])
def test_gaps_are_clipped_at_both_ends(sign: int):
    for guess in (2**70, -(2**70)):
        side = 1 if sign == 0 else -sign if guess > 0 else sign
        assert Gap(YES, guess, sign).value(rows(7)) == side * FURTHEST
        near = guess // 2**70 * (FURTHEST - 3)
        assert abs(Gap(YES, near + 7 * GRID, sign).value(rows(7))) == FURTHEST - 3


@pytest.mark.parametrize("unit", [Unit.row(), Unit.id("who", 3), Unit.id("who", 3, "replace")], ids=str)
def test_sensitivities(unit: Unit):
    assert Gap.sensitivity(unit) == unit.limit * GRID
    assert Loss.sensitivity(unit) == unit.limit * GRID + 1
    change = Loss.change(unit)
    assert (change.l1, change.l2_squared) == (unit.limit * GRID + 1, (unit.limit * GRID + 1) ** 2)


def exact_loss(hidden: int, members: list[float], width: int) -> int:
    with localcontext(Context(prec=60)):
        terms = [
            int(width * (1 - (-Decimal(abs(round(member * GRID) - hidden * GRID)) / width).exp())) for member in members
        ]
    return sum(terms) // len(terms)


@pytest.mark.parametrize("width", [GRID, 3 * GRID + 7, 2**40])
def test_a_loss_is_the_mean_of_its_terms(width: int):
    members = [0.25, 3.0, 6.5, 7.125, 2_000_000.0]
    loss = Loss(YES, np.array(members), width)
    assert loss.value(rows(7)) == pytest.approx(exact_loss(7, members, width), abs=1)
    assert loss.counts(rows(7)).tolist() == [loss.value(rows(7))]
    assert Loss(YES, np.array([7.0]), width).value(rows(7)) == 0


def test_sums_of_losses_may_be_longer_than_a_word():
    """Members far away, each of which loses the whole width."""
    loss = Loss(YES, np.full(2**18, 2.0**43), WIDEST)
    alone = Loss(YES, np.full(1, 2.0**43), WIDEST)
    assert loss.value(rows(7)) == alone.value(rows(7)) == WIDEST


def test_members_and_totals_are_clipped():
    far, clipped = (Loss(YES, np.array([answer, 2.0]), WIDEST) for answer in (2.0**50, MOST_ROWS))
    assert far.value(rows(7)) == clipped.value(rows(7))
    low, clipped = (Loss(YES, np.array([answer]), WIDEST) for answer in (-(2.0**50), -MOST_ROWS))
    assert low._steps.tolist() == clipped._steps.tolist() == [-(2**60)]
    assert Loss(YES, np.array([0.0]), WIDEST).value(rows(2**62)) == WIDEST, "no total overflows"
    assert not low._steps.flags.writeable


@pytest.mark.parametrize("width", [0, -1, WIDEST + 1])
def test_widths_beyond_what_is_proved_are_refused(width: int):
    with pytest.raises(BadParameter, match="width"):
        Loss(YES, np.array([1.0]), width)


def test_the_widest_and_the_narrowest_are_taken():
    assert Loss(YES, np.array([1.0]), WIDEST).width == WIDEST
    assert Loss(YES, np.array([6.0]), 1).value(rows(7)) == 1


@pytest.mark.parametrize("members", [[], [np.nan], [1.0, np.inf]])
def test_members_have_finite_answers(members: list[float]):
    with pytest.raises(BadParameter, match="members"):
        Loss(YES, np.array(members), GRID)


@pytest.mark.parametrize(("guess", "sign"), [(1.0, 0), (1, 2), (1, -2), (1, True), (True, 1), (1, 1.0)])
def test_guesses_and_signs_are_whole_numbers(guess: object, sign: object):
    with pytest.raises(BadParameter, match="guess"):
        Gap(YES, guess, sign)  # type: ignore[arg-type]


class Spy:
    """Looks like a question, and would see the private counts."""

    columns, denominator, weights = ("old",), 1, np.array([0, 1])

    def total(self, counts: Cells) -> int:
        raise AssertionError("saw the counts")

    counts = total


def test_only_the_kernels_own_questions_are_compared():
    """Whatever else is handed over would see the private counts, and its bound would be nobody's proof."""
    for ask in (
        lambda: Gap(Spy(), 0),  # type: ignore[arg-type]
        lambda: Loss(Spy(), np.array([1.0]), GRID),  # type: ignore[arg-type]
        lambda: DisjointQueries((YES, Spy())),  # type: ignore[arg-type]
    ):
        with pytest.raises(TypeError, match="Spy is not the kernel's own question"):
            ask()


LINE = Domain((Integers(name="x", low=0, high=2),))
FULLEST = Lipschitz(columns=("x",), statistics=(("largest",), ("distance", (2**9, 2**9, 0))))


def statistic(index: int) -> Statistic:
    return Statistic(FULLEST, index, FULLEST.denominator(LINE))


@pytest.mark.parametrize("unit", [Unit.row(), Unit.row("replace"), Unit.id("who", 2)], ids=str)
def test_a_statistic_moves_no_further_than_is_said(unit):
    """On all tables of up to three rows and every unit that is added, removed or replaced."""
    tables = [np.bincount(each, minlength=3) for n in range(4) for each in combinations_with_replacement(range(3), n)]
    people = [table for table in tables if 1 <= table.sum() <= unit.limit]
    others = people if unit.neighbours == "replace" else [np.zeros(3, dtype=np.int64)]
    for index in (0, 1):
        gap = Gap(statistic(index), 5)
        moved = max(
            abs(gap.value(Cells(LINE, base + one, unit)) - gap.value(Cells(LINE, base + two, unit)))
            for base in tables
            for one in people
            for two in others
        )
        assert 0 < moved <= Gap.sensitivity(unit)
    assert Gap(statistic(0), 9 * GRID).value(Cells(LINE, np.array([4, 7, 1]))) == 2 * GRID


def test_a_statistic_of_a_smaller_denominator_is_refused():
    """Its steps would be larger than its change says."""
    forged = Statistic(FULLEST, 1, 1)
    for asked in (Gap(forged, 0), Loss(forged, np.array([1.0]), GRID)):
        with pytest.raises(BadParameter, match="denominator"):
            asked.value(Cells(LINE, np.array([4, 7, 1])))
