"""The choice among all small databases: its level, its privacy on all micro tables, and its law."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest

from core.base.errors import BadParameter, Refused
from core.kernel.databases.prefix_databases import FURTHEST, PrefixDatabases, log_databases
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
        for path in every_path(4, 3):
            level = choice.level(sums, path, unit.limit)
            assert level <= top
            assert [choice.band(sums, k, unit.limit).holds(path) for k in range(top + 1)] == [
                k >= level for k in range(top + 1)
            ]


@pytest.mark.exhaustive
def test_the_kernel_draws_by_that_law_and_pays():
    """Chi-square of 20 databases below 60 but for one run in 10^5."""
    table, draws = np.array([2, 0, 4, 1]), 1_000
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
