"""Ways to break privacy, one line each, and the checks that must notice them.

A check passes on the code as it is. A mutant changes one thing in memory, and then its check must fail.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from pytest import MonkeyPatch

from core.base.errors import BadParameter, DeskError, OutOfBudget, Undeclared
from core.kernel.asked import Change
from core.kernel.compared import GRID, Gap
from core.kernel.databases.prefix_databases import PrefixDatabases
from core.kernel.kernel import Kernel
from core.kernel.noise_level import Measurement, NoiseLevel
from core.kernel.remembered import Remembered
from core.kernel.searches.crowding import Crowding
from core.kernel.sparse_vector import AboveThreshold, OpenRun
from core.kernel.tables import Marginal
from core.ledger.ledger import Ledger
from core.mechanisms.direct import histogram
from core.mechanisms.kit.portions import Portion
from core.mechanisms.online import online_tree
from core.mechanisms.online import plan as online_plan
from core.mechanisms.online.themes import Themes
from core.privacy import accounting, noise, samplers
from core.privacy.budget import Budget
from core.privacy.events import Cost, Laplace
from core.privacy.noise import Noise
from core.privacy.privacy_filter import Filters
from core.privacy.unit import Unit
from core.schema.domain import Domain, Integers
from core.table import contribution_limit
from core.table.counts import Cells
from core.table.table import Table
from tests.core.kernel.searches.test_crowding import path_loss, worst_loss
from tests.core.kernel.test_sparse_vector import long, machine
from tests.core.mechanisms.asked import questions
from tests.core.mechanisms.transcripts import Forced, Transcripts, stated, worst
from tests.privacy.kit.audit import lower_limit
from tests.privacy.kit.cases import DOMAIN, EXAMPLES, build, few_points, neighbours
from tests.privacy.kit.laws import (
    RIGHT,
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
from tests.privacy.mutants import broken_sparse
from tests.privacy.mutants.pipeline_mutants import PIPELINE, rows_public

ROW = Unit.row()
ODD = Budget("0.97")
"""A budget that nothing else uses, because layouts of a session are remembered by budget."""


def unpaid(event: Any) -> None:
    """Sparse vectors on their own: nobody asks what a run costs."""


def check_laplace_law() -> None:
    assert laplace_fit(laplace_draws(Fraction(10), 10**6), Fraction(10)) > RIGHT


def check_gaussian_law() -> None:
    assert gaussian_fit(gaussian_draws(Fraction(10), 10**6), Fraction(10)) > RIGHT


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


@dataclass(frozen=True)
class Mutant:
    name: str
    check: Callable[[], None]
    breaks: Callable[[MonkeyPatch], None]
    killed_by: tuple[type[Exception], ...] = (AssertionError, Undeclared)
    """What its check must raise: what it asserts fails, or the kernel itself refuses to go on."""


def _scaled(method: str, parameter: str, factor: Fraction) -> Callable[[MonkeyPatch], None]:
    real = getattr(Noise, method)

    def broken(self: Noise, values: Any, **options: Any) -> Any:
        return real(self, values, **{**options, parameter: options[parameter] * factor})

    return lambda patch: patch.setattr(Noise, method, broken)


def _sensitivity_halved(patch: MonkeyPatch) -> None:
    patch.setattr(Marginal, "change", lambda self, unit: Change(unit.limit, unit.limit**2))


def _rate_of_one_look(patch: MonkeyPatch) -> None:
    patch.setattr(Crowding, "rate", lambda self, epsilon, unit: epsilon / unit.l1)


def _no_bias(patch: MonkeyPatch) -> None:
    patch.setattr(Crowding, "bias", lambda self, rate: 0)


def _compared_at_half(patch: MonkeyPatch) -> None:
    real = AboveThreshold.of

    def halved(epsilon: Fraction, *, sensitivity: int, cutoff: int = 1) -> AboveThreshold:
        return real(epsilon, sensitivity=sensitivity // 2, cutoff=cutoff)

    patch.setattr(AboveThreshold, "of", halved)
    patch.setattr(online_plan, "lay_out", online_plan.lay_out.__wrapped__)


def _gap_at_half(patch: MonkeyPatch) -> None:
    """The bound in the kernel itself: the plan and the kernel then believe the same wrong number."""
    patch.setattr(Gap, "sensitivity", classmethod(lambda cls, unit: unit.limit * GRID // 2))
    patch.setattr(online_plan, "lay_out", online_plan.lay_out.__wrapped__)


def _synopsis_not_declared(patch: MonkeyPatch) -> None:
    cost = online_plan.OnlinePlan.cost.fget
    patch.setattr(online_plan.OnlinePlan, "cost", property(lambda self: cost(replace(self, synopsis=None))))


def _synopsis_spent_twice(patch: MonkeyPatch) -> None:
    real = online_tree._spending
    patch.setattr(
        online_tree, "_spending", lambda plan, unit: replace(real(plan, unit), whole=2 * plan.synopsis.epsilon)
    )


def _themes_never_end(patch: MonkeyPatch) -> None:
    """Every question about a theme measures its table once more."""
    patch.setattr(Themes, "measured", lambda self, columns: self)


def _whole_rate(patch: MonkeyPatch) -> None:
    patch.setattr(noise, "_rate_within", lambda epsilon, span: 2 * Fraction(epsilon) / span)


def _databases_at_twice_the_rate(patch: MonkeyPatch) -> None:
    patch.setattr(PrefixDatabases, "sensitivity", lambda self, unit: Fraction(1, 2))


def _always_the_best(patch: MonkeyPatch) -> None:
    patch.setattr(samplers, "select", lambda scores, rate: int(np.argmax(scores)))


def _in_sparse(part: type, method: str, broken: Any) -> Callable[[MonkeyPatch], None]:
    return lambda patch: patch.setattr(part, method, broken)


def _budget_unchecked(patch: MonkeyPatch) -> None:
    """The file refuses too much by itself, so that its own constraint has to go as well."""

    def spend(connection: Any, dataset: Any, amounts: Any, priced: Any) -> int:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        paid = amounts["pure"], dataset.fingerprint
        connection.execute("UPDATE account SET spent = spent + ? WHERE fingerprint = ?", paid)
        return int(amounts["pure"])

    patch.setattr(Ledger, "_spend", staticmethod(spend))


def _fixed_seed(patch: MonkeyPatch) -> None:
    patch.setattr(samplers, "words", lambda count: np.random.default_rng(7).integers(0, 2**64, count, dtype=np.uint64))


def _float_noise(patch: MonkeyPatch) -> None:
    def laplace(self: Noise, values: Any, *, epsilon: Fraction, sensitivity: int) -> Any:
        return values + np.random.default_rng().laplace(0, float(sensitivity / epsilon), np.shape(values))

    patch.setattr(Noise, "laplace", laplace)


def _one_draw_for_all(patch: MonkeyPatch) -> None:
    real = Noise.laplace

    def laplace(self: Noise, values: Any, **options: Any) -> Any:
        return values + real(self, np.zeros(1, dtype=np.int64), **options)[0]

    patch.setattr(Noise, "laplace", laplace)


def _limit_ignored(patch: MonkeyPatch) -> None:
    patch.setattr(contribution_limit, "keep_smallest", lambda owners, keys, limit: np.flatnonzero(owners >= 0))


def _empty_tables_without_noise(patch: MonkeyPatch) -> None:
    real = Kernel.measure

    def hasty(self: Kernel, asked: Any, event: Any) -> Measurement:
        table = asked.counts(self._Kernel__counts)  # type: ignore[attr-defined]
        if not table.any():
            return Measurement(asked, table, NoiseLevel.of(asked, event, self.unit))
        return real(self, asked, event)

    patch.setattr(Kernel, "measure", hasty)


def _undeclared_rows(patch: MonkeyPatch) -> None:
    def cost(self: Any, domain: Any, unit: Unit) -> Any:
        return histogram.price(self._portions(domain, unit)[:1])

    patch.setattr(histogram.NoisyHistogram, "cost", cost)


def _budget_spent_twice(patch: MonkeyPatch) -> None:
    def divide(shares: Any, budget: Budget, kind: Any) -> Any:
        return tuple(Portion(columns, kind(budget.epsilon)) for columns in shares)

    patch.setattr(histogram, "divide", divide)


MUTANTS = (
    Mutant("Laplace scale x 0.95", check_laplace_law, _scaled("laplace", "epsilon", Fraction(100, 95))),
    Mutant("Gaussian sigma x 0.95", check_gaussian_law, _scaled("gaussian", "rho", Fraction(100, 95) ** 2)),
    Mutant("sensitivity halved", check_replaced_rows, _sensitivity_halved),
    # A mechanism's own mistake: the kernel knows what a unit changes and compares nothing.
    Mutant("sensitivity of comparisons halved", check_session, _compared_at_half, killed_by=(BadParameter,)),
    Mutant("bound of a comparison halved in the kernel", check_session, _gap_at_half, killed_by=(AssertionError,)),
    Mutant("a session does not declare its synthetic table", check_synthetic_session, _synopsis_not_declared),
    Mutant("a session spends its synthetic table twice", check_synthetic_session, _synopsis_spent_twice),
    Mutant("a theme is measured again and again", check_synthetic_session, _themes_never_end),
    Mutant("boxes are halved at the rate of one look", check_halving, _rate_of_one_look),
    Mutant("boxes are halved without a bias for depth", check_deep_halving, _no_bias),
    Mutant("missing factor 2 in selection", check_selection_law, _whole_rate),
    Mutant("databases: missing factor 2", check_database_law, _databases_at_twice_the_rate),
    Mutant("selection always takes the best", check_selection_law, _always_the_best),
    Mutant(
        "sparse vector: no noise on the compared value",
        check_sparse,
        _in_sparse(AboveThreshold, "above", broken_sparse.no_query_noise),
    ),
    Mutant(
        "sparse vector: noise not scaled with the cutoff",
        check_sparse,
        _in_sparse(AboveThreshold, "above", broken_sparse.not_scaled_with_cutoff),
    ),
    Mutant(
        "sparse vector: the compared value is released",
        check_compared_values,
        _in_sparse(OpenRun, "test", broken_sparse.releases_the_compared_value),
    ),
    Mutant("sparse vector: never stops", check_sparse, _in_sparse(OpenRun, "test", broken_sparse.never_stops)),
    Mutant(
        "sparse vector: half the noise", check_sparse, _in_sparse(AboveThreshold, "above", broken_sparse.half_the_noise)
    ),
    Mutant(
        "sparse vector: threshold without noise",
        check_sparse,
        _in_sparse(AboveThreshold, "offset", broken_sparse.threshold_as_it_is),
    ),
    Mutant(
        "sparse vector: threshold noise a fifth too small",
        check_sparse,
        _in_sparse(AboveThreshold, "offset", broken_sparse.threshold_too_sharp),
    ),
    Mutant(
        "threshold noise not refreshed",
        check_runs_apart,
        _in_sparse(OpenRun, "test", broken_sparse.keeps_its_offset),
    ),
    Mutant("cut-off removed", check_session, _in_sparse(OpenRun, "test", broken_sparse.never_stops)),
    Mutant("budget check skipped", check_ledger, _budget_unchecked),
    Mutant("budget spent twice", check_offline, _budget_spent_twice),
    Mutant("cost leaves out the number of rows", check_offline, _undeclared_rows),
    Mutant("fixed seed", check_fresh_draws, _fixed_seed),
    Mutant("float noise", check_whole_numbers, _float_noise),
    Mutant("one draw for all cells", check_independent_cells, _one_draw_for_all),
    Mutant("n treated as public", check_offline, rows_public),
    Mutant("empty tables without noise", check_offline, _empty_tables_without_noise),
    Mutant("contribution limit ignored", check_contributions, _limit_ignored),
    *(Mutant(*parts) for parts in PIPELINE),
)
