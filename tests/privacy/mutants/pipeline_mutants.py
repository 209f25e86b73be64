"""Ways to break privacy between the source and the mechanism, where tests of mechanisms on counts cannot see them."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from pytest import MonkeyPatch

from core import Budget, Desk, Halfspaces, Marginals, Unit, registry
from core.base.errors import Failed
from core.desk import releases
from core.desk.releases import Releases
from core.desk.tables import surveys
from core.kernel import released
from core.kernel.kernel import Kernel
from core.kernel.tables import TOTAL
from core.mechanisms.measured import measuring
from core.plans.division import divided
from core.privacy import privacy_filter
from core.privacy.accounting import UNITS
from core.sessions import workspace_sessions as sessions
from core.table.counts import Cells, Projected
from tests.core.kernel.kinds import KINDS
from tests.core.kernel.test_asked import reached
from tests.core.mechanisms.asked import questions
from tests.privacy.kit import cases
from tests.privacy.kit.pipeline import Step, discovery, release, replayed, session
from tests.privacy.kit.sessions import told_apart
from tests.privacy.kit.sources import DOMAIN, FORMATS, neighbours

PERSON = Unit.id("person", 3)
ONE_COLUMN = (Marginals(order=1, columns=("a",)),)
PLANES = (Halfspaces(columns=("a", "b"), directions=6), Halfspaces(columns=("b", "c"), directions=4))


def _check(*steps: Step, unit: Unit = PERSON, budget: Budget = cases.PURE) -> None:
    with cases.few_points(), told_apart():
        assert replayed(steps, unit, budget) == 1


def check_focused() -> None:
    """A release about one column of several, for people with several rows."""
    _check(release("laplace", ONE_COLUMN, {}), release("histogram", ONE_COLUMN, {}))


def check_focused_session() -> None:
    asked = questions(cases.DOMAIN, 3)
    _check(
        session("online-laplace", asked, cases.DOMAIN.names, {"questions": 3}),
        session("online-weights", asked, cases.DOMAIN.names, {"alpha": 0.4, "questions": 3, "rows": 3_000}),
    )


def check_discovery() -> None:
    _check(discovery({"a": "number", "town": "text"}))


def check_planes() -> None:
    """Two classes of halfspaces in one release."""
    _check(release("tree", PLANES, {}))


def check_measured() -> None:
    """A release that is measured, for people with several rows."""
    _check(release("laplace", ONE_COLUMN, {"measure": "0.05"}), release("tree", ONE_COLUMN, {"measure": "0.05"}))


def check_figures() -> None:
    """The figures of a measured release on small neighbours."""
    for kind in KINDS:
        if isinstance(kind, released.AnswerErrors | released.ShareDistances):
            assert all(reached(kind, unit, 0) <= 1 for unit in cases.UNITS)


def check_changed_total() -> None:
    """Whatever a total is changed to, the units of the account promise no more than the new epsilon.

    Canonne, Kamath and Steinke 2020, proposition 12, written out here once more.
    """
    for old, new in ((4, 2), (2, 4)):
        with TemporaryDirectory() as folder:
            desk = Desk(Path(folder) / "desk")
            source = FORMATS["frame"](neighbours(PERSON, "last")[0], Path(folder))
            held = desk.add_table(source, DOMAIN, unit=PERSON, budget=Budget(old, "1e-6"))
            desk.release(desk.plan(held, ONE_COLUMN, mechanism="gaussian", budget=Budget("1/10", "1e-6")))
            desk.change_budget(held, Budget(new, "1e-6"), reason="The board agreed.")
            account = desk.ledger.account(desk.ledger.dataset(held.id).fingerprint)
            desk.close()
        for name, way in account.filters.ways.items():
            if name.startswith("order "):
                order, delta = float(Fraction(name.removeprefix("order "))), 1e-6 * float(way.share)
                promised = way.held / UNITS - math.log(order * delta) / (order - 1) + math.log(1 - 1 / order)
                assert promised <= new + 1e-9, "more than the promised epsilon can be spent"
                assert promised >= new - 1e-9, "less than the promised epsilon can be spent"


def unit_dropped(patch: MonkeyPatch) -> None:
    patch.setattr(Projected, "unit", property(lambda self: Unit.row()))


def rows_public(patch: MonkeyPatch) -> None:
    """The kernel does not believe counts that call their rows public; so it is the kernel that is broken here."""
    patch.setattr(Kernel, "public_rows", property(lambda self: int(self._Kernel__counts.marginal(()))))


def as_many_records(patch: MonkeyPatch) -> None:
    """The number of records is that of the table, not the one that the release estimates."""
    run, certify, rows = Releases.run, releases.certify, []

    def watched(self: Releases, entry: Any, noise: Any, progress: Any) -> bytes:
        rows.append(int(self._counts(entry.dataset_id).marginal(())))
        return run(self, entry, noise, progress)

    patch.setattr(Releases, "run", watched)
    patch.setattr(releases, "certify", lambda *parts: certify(*parts[:-2], rows[-1], parts[-1]))


def session_drops_unit(patch: MonkeyPatch) -> None:
    patch.setattr(
        sessions, "in_memory", lambda counts: Cells(counts.domain, counts.marginal(counts.domain.names), Unit.row())
    )


def discovery_for_a_row(patch: MonkeyPatch) -> None:
    survey = surveys.survey

    def careless(*wanted: Any, **named: Any) -> Any:
        found, fingerprint = survey(*wanted, **named)
        return replace(found, unit=Unit.row()), fingerprint

    patch.setattr(surveys, "survey", careless)


def discovery_without_limit(patch: MonkeyPatch) -> None:
    survey = surveys.survey

    def boundless(source: Any, names: Any, unit: Unit, noise: Any, **named: Any) -> Any:
        found, fingerprint = survey(source, names, Unit.row(), noise, **named)
        return replace(found, unit=unit), fingerprint

    patch.setattr(surveys, "survey", boundless)


def whole_part_each(patch: MonkeyPatch) -> None:
    tree: Any = sys.modules[registry.offline["tree"].__module__]
    planes = tree.measure_planes

    def greedy(desk: Any, query: Any, points: Any, part: Fraction, generator: np.random.Generator) -> Any:
        return planes(desk, query, points, part * len(PLANES), generator)

    patch.setattr(tree, "measure_planes", greedy)


def at_another_order(patch: MonkeyPatch) -> None:
    capacity = privacy_filter.capacity
    patch.setattr(privacy_filter, "capacity", lambda budget, order=None: capacity(budget))


def figures_at_half(patch: MonkeyPatch) -> None:
    few = released.few_numbers

    def halved(numbers: int, unit: Unit) -> Any:
        change = few(numbers, unit)
        return replace(change, l1=change.l1 // 2, l2_squared=change.l2_squared // 4)

    patch.setattr(released, "few_numbers", halved)


def measuring_unpaid(patch: MonkeyPatch) -> None:
    """What measuring costs is left out of the price, and so is what it takes from the mechanism."""
    pricing: Any = sys.modules["core.plans.pricing"]
    priced = pricing._priced

    def cheap(*parts: Any) -> Any:
        found = priced(*parts[:6])
        return replace(found, measuring=parts[6])

    patch.setattr(pricing, "_priced", cheap)
    patch.setattr(pricing, "divided", lambda terms, *rest: (terms.build(), divided(terms, *rest)[1]))


def counted_exactly(patch: MonkeyPatch) -> None:
    """Errors become shares of the exact number of rows."""

    def exact(cls: Any, kernel: Any, event: Any) -> Any:
        kernel.measure(TOTAL, event)
        rows = int(kernel._Kernel__counts.marginal(()))
        return cls(about=rows, low=rows, high=rows, miss=0.05)

    patch.setattr(measuring.CountedRows, "measured", classmethod(exact))


def measured_without_noise(patch: MonkeyPatch) -> None:
    """A figure that is 0 has nothing to hide, somebody thought."""
    measure = Kernel.measure

    def hasty(self: Kernel, asked: Any, event: Any) -> Any:
        found = measure(self, asked, event)
        if not isinstance(asked, released.ShareDistances):
            return found
        return replace(found, values=asked.counts(self._Kernel__counts))  # type: ignore[attr-defined]

    patch.setattr(Kernel, "measure", hasty)


Break = Callable[[MonkeyPatch], None]
PIPELINE: tuple[tuple[Any, ...], ...] = (
    ("focus takes every unit for a row", check_focused, unit_dropped),
    ("focus makes a private number of rows public", check_focused, rows_public),
    ("as many records as the table has rows", check_focused, as_many_records),
    ("sessions drop the unit", check_focused_session, session_drops_unit),
    ("discovery with noise for a row", check_discovery, discovery_for_a_row),
    ("discovery ignores the limit per id", check_discovery, discovery_without_limit),
    # The kernel refuses what was not reserved in the middle of the run, so the desk calls the plan void.
    ("two classes of halfspaces each get the whole part", check_planes, whole_part_each, (Failed,)),
    ("figures of a measured release with half their change", check_figures, figures_at_half),
    ("measuring is not paid for", check_measured, measuring_unpaid),
    ("measured errors are shares of the exact number of rows", check_measured, counted_exactly),
    ("figures of a measured release without noise", check_measured, measured_without_noise),
    ("a changed total is priced at another order", check_changed_total, at_another_order),
)
"""What is broken, the check that must notice it, how it is broken and, where it is not the check, what kills it."""
