"""The choice among all small databases: its level, its privacy on all micro tables, and its law."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest

from core.base.errors import BadParameter, Refused
from core.kernel.databases import prefix_databases
from core.kernel.databases.prefix_databases import FURTHEST, MOST_PIECES, MOST_ROWS, PrefixDatabases, log_databases
from core.kernel.kernel import Kernel
from core.kernel.remembered import Remembered
from core.privacy.events import Cost, Selection
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.schema.domain import Domain, Integers
from core.table.counts import Cells
from tests.core.kernel.databases.test_bands import every_path

LINE = Domain((Integers(name="x", low=0, high=3),))
UNITS = (Unit.row(), Unit.row("replace"), Unit.id("who", 2), Unit.id("who", 2, "replace"))


def tables(most: int) -> list[tuple[int, ...]]:
    chosen = (each for size in range(most + 1) for each in combinations_with_replacement(range(4), size))
    return [tuple(np.bincount(each, minlength=4).tolist()) for each in chosen]


def neighbours(unit: Unit) -> list[tuple[np.ndarray, np.ndarray]]:
    persons = [np.array(table) for table in tables(unit.limit) if sum(table)]
    others = persons if unit.neighbours == "replace" else [np.zeros(4, dtype=int)]
    return [(np.array(base) + one, np.array(base) + two) for base in tables(2) for one in persons for two in others]


def asked(told: int, rows: int = 3) -> PrefixDatabases:
    return PrefixDatabases("x", np.arange(5), rows, told)


def levels(choice: PrefixDatabases, table: np.ndarray, unit: Unit) -> np.ndarray:
    """Of all databases."""
    sums = choice.prefixes(Remembered(Cells(LINE, table, unit)))
    return np.array([choice.level(sums, path, unit.limit) for path in every_path(4, choice.rows)])


def law(choice: PrefixDatabases, table: np.ndarray, unit: Unit, epsilon: float) -> np.ndarray:
    """The exact probabilities of all databases."""
    weights = np.exp(-epsilon * levels(choice, table, unit) / 2)
    return weights / weights.sum()


@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("told", [1, 4])
def test_privacy_on_all_micro_tables(unit, told):
    """No unit moves a level by more than 1, some does; and no probability by more than e^epsilon."""
    choice, moved, lost = asked(told), 0, 0.0
    known: dict[tuple[int, ...], tuple[np.ndarray, np.ndarray]] = {}
    for pair in neighbours(unit):
        for table in pair:
            if (key := tuple(table.tolist())) not in known:
                known[key] = levels(choice, table, unit), np.log(law(choice, table, unit, 1.5))
        one, two = (known[tuple(table.tolist())] for table in pair)
        moved = max(moved, int(np.abs(one[0] - two[0]).max()))
        lost = max(lost, float(np.abs(one[1] - two[1]).max()))
    assert moved == choice.sensitivity(unit) == 1
    assert lost <= 1.5 + 1e-9


@pytest.mark.parametrize("unit", [Unit.row(), Unit.id("who", 2)], ids=str)
def test_a_band_holds_exactly_the_databases_of_its_level(unit):
    generator = np.random.default_rng()
    for _ in range(30):
        choice = asked(int(generator.integers(1, 9)))
        sums = choice.prefixes(Remembered(Cells(LINE, generator.integers(0, 4, 4), unit)))
        top = choice.highest(sums, unit.limit)
        assert top == max(choice.level(sums, path, unit.limit) for path in every_path(4, 3))
        for path in every_path(4, 3):
            level = choice.level(sums, path, unit.limit)
            assert [choice.band(sums, k, unit.limit).holds(path) for k in range(top + 1)] == [
                k >= level for k in range(top + 1)
            ]


@pytest.mark.exhaustive
def test_the_kernel_draws_by_that_law_and_pays():
    """Chi-square of 20 databases below 60 but for one run in 10^5."""
    table, draws = np.array([2, 0, 4, 1]), 400
    choice, unit = asked(7), Unit.row()
    kernel = Kernel(Cells(LINE, table, unit), Noise(), Cost((Selection(Fraction(3, 2)),) * draws))
    paths = {tuple(path.tolist()): place for place, path in enumerate(every_path(4, 3))}
    seen = np.zeros(len(paths))
    for _ in range(draws):
        database = kernel.choose_database(choice, Selection(Fraction(3, 2)))
        assert database.sum() == 3
        seen[paths[tuple(np.cumsum(database)[:-1].tolist())]] += 1
    wanted = draws * law(choice, table, unit, 1.5)
    assert ((seen - wanted) ** 2 / wanted).sum() < 60
    with pytest.raises(Exception, match="reserv"):
        kernel.choose_database(choice, Selection(Fraction(3, 2)))


def test_only_the_kernels_own_kind_is_chosen_from():
    kernel = Kernel(Cells(LINE, np.array([1, 0, 0, 0])), Noise(), Cost((Selection(Fraction(1)),)))
    with pytest.raises(TypeError, match="kernel's own"):
        kernel.choose_database(object(), Selection(Fraction(1)))


def test_it_is_as_accurate_as_it_says():
    """With probability 1 - beta; beta is 10^-6 here."""
    domain = Domain((Integers(name="x", low=0, high=199),))
    table = np.random.default_rng().multinomial(20_000, np.full(200, 1 / 200))
    choice = PrefixDatabases("x", np.arange(201), 100, 20_000)
    found = choice.drawn(Remembered(Cells(domain, table)), Fraction(1), Noise())
    worst = np.abs(np.cumsum(table) - np.cumsum(found) * 200)[:-1].max()
    assert worst <= 20_000 / 200 + 1 + 2 * (log_databases(200, 100) + math.log(10**6))


def test_extreme_tables_are_drawn_too():
    """An empty one, one far larger than n, and one piece only."""
    for table, told in ((np.zeros(4, dtype=np.int64), 5), (np.full(4, FURTHEST), 1), (np.array([0, 0, 0, 9]), 1)):
        found = asked(told).drawn(Remembered(Cells(LINE, table)), Fraction(1, 100), Noise())
        assert found.sum() == 3 and found.min() >= 0
    alone = PrefixDatabases("x", np.array([0, 4]), 2, 3)
    assert alone.drawn(Remembered(Cells(LINE, np.array([1, 1, 1, 0]))), Fraction(1), Noise()).tolist() == [2]


@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("table", [(2, 0, 4, 1), (1, 0, 1, 1), (0, 0, 9, 0), (0, 0, 4, 0)], ids=str)
def test_what_is_drawn_from(unit, table, monkeypatch):
    """All levels from the lowest that a database has to the highest, falling by half of epsilon for each."""
    seen = {}

    class Levels:
        def __init__(self, **given):
            seen.update(given)

        def draw(self, level_of, coins):
            seen["levels"] = [level_of(path) for path in every_path(4, 3)]
            return np.array([1, 1, 2])

    monkeypatch.setattr(prefix_databases, "BandLevels", Levels)
    choice, counts = asked(3), Remembered(Cells(LINE, np.array(table), unit))
    assert choice.drawn(counts, Fraction(3, 4), Noise()).tolist() == [1, 0, 1, 1]
    wanted = levels(choice, np.array(table), unit).tolist()
    assert seen["levels"] == wanted
    assert (seen["least"], seen["most"], seen["rate"]) == (min(wanted), max(wanted), Fraction(3, 8))
    inside = [seen["band"](1).holds(path) for path in every_path(4, 3)]
    assert inside == [level <= 1 for level in wanted]


def test_pieces_are_summed_where_they_begin():
    """Uneven ones, and counts beyond the public range on either side."""
    uneven = PrefixDatabases("x", np.array([0, 1, 3, 4]), 2, 3)
    assert uneven.prefixes(Remembered(Cells(LINE, np.array([5, 7, 11, 13])))).tolist() == [5, 23]
    assert uneven.prefixes(Remembered(Cells(LINE, np.array([-5, 7, 2**41, 0])))).tolist() == [0, FURTHEST]
    for cuts in ([1, 3, 4], [0, 3], [0, 3, 5]):
        with pytest.raises(BadParameter, match="all cells"):
            PrefixDatabases("x", np.array(cuts), 2, 3).prefixes(Remembered(Cells(LINE, np.ones(4, dtype=np.int64))))
    assert [asked(told).size for told in (-7, 0, 1, 2, 2**40, 2**41)] == [1, 1, 1, 2, 2**40, 2**40]


def test_every_product_stays_in_64_bits():
    assert FURTHEST == 2**40 and MOST_ROWS == 10_000 and MOST_PIECES == 2**16
    # n Y and m X, and the widest band around them: both at most m (n + X).
    assert MOST_ROWS * 4 * FURTHEST < 2**63


def test_the_edges_of_what_is_counted():
    """10,000 rows, 2^16 pieces, 2^16000 databases."""
    least, most = 1, 10_000
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (middle, most) if math.comb(middle + 9_999, 10_000) <= 2**16_000 else (least, middle)
    PrefixDatabases("x", np.arange(least + 1), 10_000, 10)
    with pytest.raises(Refused, match="more databases"):
        PrefixDatabases("x", np.arange(least + 2), 10_000, 10)
    PrefixDatabases("x", np.arange(2**16 + 2), 1, 10)
    two = np.arange(3)
    for cuts, rows, told in (
        (np.arange(2**16 + 3), 1, 10),
        (two, 10_001, 10),
        (two, 1, 10.0),
        (two, True, 10),
        (np.array([0]), 1, 10),
        (np.stack([two, two]), 1, 10),
        (np.array([0, 2, 1]), 1, 10),
    ):
        with pytest.raises(BadParameter):
            PrefixDatabases("x", cuts, rows, told)
    counts = Remembered(Cells(LINE, np.array([1, 1, 1, 0])))
    asked(3).drawn(counts, Fraction(1, 2**59), Noise())
    with pytest.raises(BadParameter, match="too small"):
        asked(3).drawn(counts, Fraction(99, 100 * 2**59), Noise())


def test_what_cannot_be_counted_is_refused():
    with pytest.raises(Refused, match="more databases"):
        PrefixDatabases("x", np.arange(2**16 + 1), 9_000, 10)
    for cuts, rows in ((np.arange(5), 0), (np.array([0, 0, 4]), 2), (np.arange(5), 2.0)):
        with pytest.raises(BadParameter):
            PrefixDatabases("x", cuts, rows, 10)
    with pytest.raises(BadParameter, match="all cells"):
        PrefixDatabases("x", np.array([0, 2]), 2, 3).drawn(Remembered(Cells(LINE, np.ones(4))), Fraction(1), Noise())
    with pytest.raises(BadParameter, match="too small"):
        asked(3).drawn(Remembered(Cells(LINE, np.ones(4))), Fraction(1, 2**70), Noise())
    assert log_databases(4, 3) == pytest.approx(math.log(20))
