import numpy as np
import pytest

from core.base.errors import BadParameter, Refused
from core.mechanisms.ranges.interval_search import IntervalSearch, SearchColumn, search
from core.models import tables as tables_model
from core.privacy.budget import Budget
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.queries.intervals import Intervals
from core.queries.marginals import Marginals
from core.queries.unions import Unions
from core.schema.domain import Domain, Integers
from core.table.counts import Cells
from tests.core.mechanisms.replay import BUDGETS, LINE, UNITS, check_private
from tests.kernels import run

LINE64 = Domain((Integers(name="x", low=0, high=63),))


@pytest.fixture(autouse=True)
def few_points(monkeypatch):
    monkeypatch.setattr(tables_model, "MOST_POINTS", 100)
    monkeypatch.setattr(tables_model, "FEWEST_POINTS", 100)


def tables(rows):
    """A smooth one, one with heavy cells, and one with everything in one cell."""
    generator = np.random.default_rng(0)
    smooth = generator.multinomial(rows, generator.dirichlet(np.full(64, 5.0)))
    heavy = generator.multinomial(rows // 2, generator.dirichlet(np.full(64, 0.3)))
    heavy[20] += rows - rows // 2
    single = np.zeros(64, dtype=np.int64)
    single[41] = rows
    return smooth, heavy, single


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("mass", ["noisy", "equal"])
def test_privacy(budget, unit, mass, monkeypatch):
    mechanism = IntervalSearch(queries=(Intervals(column="x"),), budget=budget, accuracy=0.4, mass=mass)
    check_private(mechanism, LINE, unit, monkeypatch)


@pytest.mark.exhaustive
@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("unit", [Unit.row(), Unit.row("replace")])
def test_theorem_at_its_own_parameters(budget, unit):
    mechanism = IntervalSearch(queries=(Intervals(column="x"),), budget=budget, accuracy=0.3, beta=0.1)
    rows = mechanism.required_rows(LINE64, unit)
    query = Intervals(column="x")
    for cells in tables(rows):
        counts = Cells(LINE64, cells, unit)
        errors = [query.worst(counts, run(mechanism, counts, Noise())) for _ in range(25)]
        assert np.mean(np.array(errors) > 0.3) <= 0.1
    # the bound is about something: on smooth data pieces do hide a part of the accuracy
    counts = Cells(LINE64, tables(rows)[0], unit)
    assert query.worst(counts, run(mechanism, counts, Noise())) > 0.003


@pytest.mark.exhaustive
def test_unions_divide_the_accuracy():
    unions = IntervalSearch(queries=(Unions(column="x", parts=3),), budget=Budget(1), accuracy=0.6, beta=0.1)
    rows = unions.required_rows(LINE64, Unit.row())
    assert rows > 20 * IntervalSearch(
        queries=(Intervals(column="x"),), budget=Budget(1), accuracy=0.6, beta=0.1
    ).required_rows(LINE64, Unit.row())
    query = Unions(column="x", parts=3)
    for cells in tables(rows):
        counts = Cells(LINE64, cells)
        assert np.mean([query.worst(counts, run(unions, counts, Noise())) > 0.6 for _ in range(10)]) <= 0.1


@pytest.mark.parametrize("answer", [lambda first, last: 0, lambda first, last: 10**9, lambda first, last: last - first])
@pytest.mark.parametrize("cells", [1, 2, 3, 64, 1000])
def test_the_limit_holds_whatever_the_answers(answer, cells):
    column = SearchColumn("x", np.arange(cells + 1), 0.3)
    asked = []

    def mass(first, last):
        assert 0 <= first < last <= cells
        asked.append((first, last))
        return answer(first, last)

    found = search(mass, column, 1000.0)
    assert len(asked) <= column.limit
    assert [piece.first for piece in found] == [0, *(piece.last for piece in found[:-1])]
    assert found[-1].last == cells


def test_a_perfect_answer_gives_pieces_of_the_wanted_mass():
    before = np.arange(1025)
    column = SearchColumn("x", np.arange(1025), 0.2)
    found = search(lambda first, last: int(before[last] - before[first]), column, 1024.0)
    assert all(abs(piece.mass - 0.05 * 1024) <= 0.04 * 0.125 * 1024 for piece in found[:-2])
    assert len(found) >= 20
    assert sum(piece.mass for piece in found) == 1024


@pytest.mark.exhaustive
def test_noisy_mass_beats_equal_mass_on_heavy_cells():
    counts = Cells(LINE64, tables(1_000_000)[1])
    query = Intervals(column="x")
    errors = {
        mass: np.mean(
            [
                query.worst(counts, run(IntervalSearch(queries=(query,), budget=Budget(1), mass=mass), counts, Noise()))
                for _ in range(5)
            ]
        )
        for mass in ("noisy", "equal")
    }
    assert 3 * errors["noisy"] < errors["equal"]


def test_bits_of_the_class_are_the_bits_of_the_search():
    fine = IntervalSearch(queries=(Intervals(column="x"),), budget=Budget(1))
    coarse = IntervalSearch(queries=(Intervals(column="x", bits=2),), budget=Budget(1))
    assert len(fine.cost(LINE64, Unit.row()).events) == 240 + 1
    assert len(coarse.cost(LINE64, Unit.row()).events) == 80 + 1
    assert len(coarse.cost(LINE64, Unit.row("replace")).events) == 80


def test_missing_rows_stay_out_of_the_ranges():
    counts = Cells(LINE, np.concatenate([np.zeros((30, 2), dtype=int), [[600_000, 400_000]]]))
    mechanism = IntervalSearch(queries=(Intervals(column="x"),), budget=Budget(1), accuracy=0.3)
    table = run(mechanism, counts, Noise()).marginal(("x",))
    assert table[30] > 900_000


def test_refusals_name_the_parameter_and_what_works():
    query = (Intervals(column="x"),)
    for accuracy in (0, 1, 1.5, -0.1, float("nan"), True, "a"):
        with pytest.raises(BadParameter, match="accuracy"):
            IntervalSearch(queries=query, budget=Budget(1), accuracy=accuracy)
    with pytest.raises(BadParameter, match="mass"):
        IntervalSearch(queries=query, budget=Budget(1), mass="fair")
    with pytest.raises(Refused, match="marginals"):
        IntervalSearch(queries=(Marginals(order=1),), budget=Budget(1)).check(LINE, Unit.row())
    with pytest.raises(BadParameter, match="at least") as caught:
        IntervalSearch(queries=query, budget=Budget(1), accuracy=1e-5).check(LINE, Unit.row())
    named = float(str(caught.value).split("at least ")[1].rstrip("."))
    IntervalSearch(queries=query, budget=Budget(1), accuracy=named).check(LINE, Unit.row())


def test_expected_noise_grows_with_accuracy():
    errors = [
        IntervalSearch(queries=(Intervals(column="x"),), budget=Budget(1), accuracy=accuracy)
        .expected(LINE64, Unit.row())
        .mean
        for accuracy in (0.4, 0.2, 0.1)
    ]
    assert errors[0] < errors[1] < errors[2]
