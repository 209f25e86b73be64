"""Checks that pass on the code as it is and must notice a mutant."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

from core.base.errors import DeskError, OutOfBudget
from core.kernel.databases.prefix_databases import PrefixDatabases
from core.kernel.kernel import Kernel
from core.kernel.remembered import Remembered
from core.kernel.searches.crowding import Crowding
from core.kernel.sparse_vector import OpenRun
from core.kernel.tables import Distances, Marginal
from core.ledger.ledger import Ledger
from core.privacy import accounting, cube
from core.privacy.budget import Budget
from core.privacy.events import Cost, Laplace
from core.privacy.noise import Noise
from core.privacy.privacy_filter import Filters
from core.privacy.unit import Unit
from core.schema.domain import Domain, Integers
from core.table.counts import Cells
from core.table.table import Table
from tests.core.kernel.kinds import BOTH
from tests.core.kernel.searches.test_crowding import path_loss, worst_loss
from tests.core.kernel.searches.test_uneven import boxes, most_moved
from tests.core.kernel.test_asked import reached
from tests.core.kernel.test_sparse_vector import long, machine
from tests.core.mechanisms.asked import questions
from tests.core.mechanisms.transcripts import Forced, Transcripts, stated, worst
from tests.privacy.kit.audit import lower_limit
from tests.privacy.kit.cases import DOMAIN, EXAMPLES, build, few_points, neighbours
from tests.privacy.kit.laws import (
    RIGHT,
    cube_draws,
    cube_fit,
    cube_logs,
    gaussian_draws,
    gaussian_fit,
    laplace_draws,
    laplace_fit,
    selections,
    softmax_fit,
)
from tests.privacy.kit.recorder import Recorder
from tests.privacy.kit.replay import check_released, check_runs, check_steps, on_both, session_on_both
from tests.privacy.kit.sessions import built, first_themes, told_apart

ROW = Unit.row()
ODD = Budget("0.97")
"""A budget that nothing else uses, because layouts of a session are remembered by budget."""


def unpaid(event: Any) -> None:
    """Sparse vectors on their own: nobody asks what a run costs."""


def check_laplace_law() -> None:
    assert laplace_fit(laplace_draws(Fraction(10), 10**6), Fraction(10)) > RIGHT


def check_gaussian_law() -> None:
    assert gaussian_fit(gaussian_draws(Fraction(10), 10**6), Fraction(10)) > RIGHT


def check_cube_law() -> None:
    assert cube_fit(cube_draws(Fraction(10), 91, 2_000), 10.0) > RIGHT


def check_wide_cubes() -> None:
    """Two numbers at rate 0.7: a vector that is one larger is at most so much less likely."""
    falls = -np.diff(cube_logs(2, 1 / 0.7, 40, cube.margin(2)))
    assert falls.max() <= 0.7 + 1e-9


def check_distances() -> None:
    """Distances of tables of four cells, where rows are replaced."""
    asked = Distances((("a",), BOTH), (np.array([2, 1]), np.array([[1, 0], [0, 3]])))
    assert reached(asked, Unit.row("replace"), 1) <= 1


def check_selection_law() -> None:
    scores = [0, 1, 2, 3]
    assert softmax_fit(selections(np.array(scores), Fraction(2), 2_000), scores, 1.0) > RIGHT


def check_database_law() -> None:
    """All 4 databases of 3 rows over 2 cells; the one of level k has a weight of exp(-k) at epsilon 2."""
    choice, counts = PrefixDatabases("a", np.arange(3), 3, 3), Remembered(Cells(TWO_CELLS, np.array([3, 0])))
    seen = [3 - int(choice.drawn(counts, Fraction(2), Noise())[0]) for _ in range(600)]
    assert softmax_fit(np.bincount(seen, minlength=4), [-level for level in range(4)], 1.0) > RIGHT


def check_fresh_draws() -> None:
    zeros = np.zeros(50, dtype=np.int64)
    one, two = (Noise().laplace(zeros, epsilon=Fraction(1, 10**15), sensitivity=1) for _ in range(2))
    assert not np.intersect1d(one, two).size


def check_whole_numbers() -> None:
    """Noise on a lattice: the last bits of a floating-point sum would tell which of two tables it came from."""
    counts = Cells(DOMAIN, np.arange(DOMAIN.cells()))
    event = Laplace(Fraction(1))
    assert Kernel(counts, Noise(), Cost.of([event])).measure(Marginal(("a",)), event).values.dtype == np.int64


def check_independent_cells() -> None:
    def differences(cells: list[int]) -> np.ndarray:
        runs = [Noise().laplace(np.array(cells), epsilon=Fraction(1), sensitivity=1) for _ in range(2_000)]
        return np.diff(np.array(runs), axis=1)

    assert lower_limit(differences([0, 0]), differences([1, 0])) <= 1


def check_offline(unit: Unit = ROW) -> None:
    """Some runs on neighbours, as in `test_conformance.py`, the first on tables with one row and with none."""
    mechanism = build("histogram", EXAMPLES["marginals"], ODD, DOMAIN, unit)
    generator = np.random.default_rng(5)
    lonely = [Cells(DOMAIN, rows * np.eye(1, DOMAIN.cells(), dtype=int), unit) for rows in (unit.limit, 0)]
    pairs = [neighbours(unit, generator) for _ in range(6)]
    for seed, pair in enumerate(pairs if unit.public_rows else [lonely, *pairs]):
        steps, one, two = on_both(mechanism, *pair, seed)
        check_steps(steps)
        check_released(one, two)
        spent, declared = Recorder.priced([before for before, _ in steps]), mechanism.cost(DOMAIN, unit)
        assert accounting.units(spent, None) <= accounting.units(declared, None) <= accounting.capacity(ODD)


def check_replaced_rows() -> None:
    check_offline(Unit.row("replace"))


def check_session() -> None:
    """Some sessions on neighbours, as in `test_replay.py`."""
    options = {"alpha": 0.02, "questions": 8, "rows": 3_000, "opening": 0.0}
    mechanism = built("online-perceptron", ODD, options, DOMAIN, Unit.row()) or built(
        "online-perceptron", ODD, {**options, "alpha": 0.2}, DOMAIN, Unit.row()
    )
    generator, asked = np.random.default_rng(5), questions(DOMAIN, 30, denominators=(1, 8))
    with told_apart():
        for seed in range(6):
            steps, one, two = session_on_both(mechanism, *neighbours(Unit.row(), generator), asked, seed)
            check_steps(steps)
            assert one == two
            calls = [before for before, _ in steps]
            check_runs(calls)
            spent, declared = Recorder.priced(calls), mechanism.cost(DOMAIN, Unit.row())
            assert accounting.units(spent, None) <= accounting.units(declared, None)


def check_synthetic_session() -> None:
    """Sessions that open with a synthetic table and measure a theme, on neighbours."""
    mechanism = built("online-tree", ODD, {}, DOMAIN, Unit.row())
    generator, asked = np.random.default_rng(5), questions(DOMAIN, 8)
    with told_apart(), few_points(), first_themes():
        for seed in range(3):
            steps, one, two = session_on_both(mechanism, *neighbours(Unit.row(), generator), asked, seed)
            check_steps(steps)
            assert one == two
            spent = Recorder.priced([before for before, _ in steps])
            assert accounting.units(spent, None) <= accounting.capacity(ODD)


def check_halving() -> None:
    assert worst_loss(Crowding(("x",), (1,)), (4,), Fraction(1), 3) <= 1


def check_deep_halving() -> None:
    assert path_loss(Fraction(1)) <= 1


def check_unevenness() -> None:
    asked = boxes([0, 1, 2], [0, 2], [[3, 2], [2, 3]])
    moved = most_moved(asked, (3, 3), 2)
    assert moved["added"] <= asked.change(Unit.row()).l1
    assert moved["replaced"] <= asked.change(Unit.row("replace")).l1


def check_sparse() -> None:
    """Every outcome of the sequences on which the proof is tight, exactly."""
    assert worst(machine(1, 2), long(2)) <= stated(machine(1, 2)) + 1e-9


def check_compared_values() -> None:
    """A comparison says above or below; a sparse vector that says more must not lose more by it."""
    sparse = machine(1, 2)
    if OpenRun(run=sparse.run, offset=0, left=2).test(50, 0, Forced(60), unpaid) is True:
        return
    cases = [((0,) * 30 + (1,), (1,) * 30 + (0,), (False,) * 30 + (level,)) for level in (-10, -5, 0)]
    assert worst(sparse, cases) <= stated(sparse) + 1e-9


def check_runs_apart() -> None:
    """Whatever the first run said, the second loses no more than it is charged for."""
    sparse = machine(1, cutoff=1, runs=2)
    run = OpenRun(run=sparse.run, offset=7, left=2)
    run.test(10**6, 0, Forced(10**6, 99), unpaid)
    if run.offset == 99:
        return
    # Given the offset's odds after the first run, which a table's neighbour shares only up to its own loss.
    seen = Transcripts(replace(sparse, run=replace(sparse.run, cutoff=2), runs=1))
    charged, cases = float(sparse.run.epsilon), product((0, 5, 40), (0, 20, 60), (-3, 0, 3), (-1, 1))
    for before, between, start, move in cases:
        values = (start,) * before + (start,) + (start,) * between + (start,)
        moved = (start + move,) * before + (start - move,) + (start - move,) * between + (start + move,)
        said = (False,) * before + (True,) + (False,) * between + (True,)
        first = before + 1
        losses = [seen.log(v, said) - seen.log(v[:first], said[:first]) for v in (values, moved)]
        assert abs(losses[0] - losses[1]) <= charged + 1e-9


def check_ledger() -> None:
    """A plan that does not fit is refused, and what is spent never exceeds the total."""
    with TemporaryDirectory() as folder:
        ledger = Ledger(Path(folder) / "ledger.db")
        account = ledger.open_account(
            fingerprint="ab", unit_json="{}", budget_json="{}", filters=Filters.of(Budget("1e-10"))
        )
        ledger.add_dataset(id="t", fingerprint="ab", name="t", schema_json="{}", details_json="{}")
        for number in range(3):
            try:
                paid = {"pure": 40}
                ledger.reserve(plan_id=f"p{number}", dataset_id="t", plan_json="{}", amounts=paid, account=account)
            except DeskError as error:
                assert isinstance(error, OutOfBudget) and number == 2
        assert ledger.account("ab").spent == 80


def check_contributions() -> None:
    """Adding a person with many rows changes every table by at most the limit."""
    unit = Unit.id("who", 3)
    others = pd.DataFrame({"who": [1, 2, 2], "a": [0, 1, 2], "b": [0, 1, 0], "c": [1, 1, 0]})
    crowd = pd.DataFrame({"who": [9] * 40, "a": [3] * 40, "b": [1] * 40, "c": [0] * 40})
    tables = [Table.load(frame, DOMAIN, unit, Noise()) for frame in (others, pd.concat([others, crowd]))]
    for columns in ((), ("a",), ("a", "b", "c")):
        one, two = (table.marginal(columns) for table in tables)
        assert np.abs(one - two).sum() <= unit.l1


TWO_CELLS = Domain((Integers(name="a", low=0, high=1),))
