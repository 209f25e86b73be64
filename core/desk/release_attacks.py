"""Attacks on a stored release, for the curator's own eyes: the same terms run again on a random half of the rows.

**Privacy** private rows are read and nothing leaves: no result is stored, spent or shown to anybody but the curator.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from core.attacks.published import PublishedRecords
from core.attacks.release_attack import MOST_ROWS, MOST_TARGETS, AttackReport, attack
from core.base.arrays import Codes, Flags
from core.base.errors import BadParameter, Refused, Unknown, printable
from core.base.odds import most_advantage
from core.desk.planner import Planner
from core.kernel.kernel import Kernel
from core.ledger.ledger import Ledger
from core.mechanisms.kit.protocol import Progress, silent
from core.models.protocol import Model
from core.plans.statements import DeskTable
from core.plans.terms import is_release
from core.privacy.noise import Noise
from core.release.release import Release
from core.table.counts import Counts
from core.table.table import Table

RUNS = 3


@dataclass(frozen=True, kw_only=True)
class StoredGuess:
    """What the stored release itself tells about people who are in the table; there is nobody outside to compare."""

    right: float
    """Share of them whose secret its records or tables give, from their other columns; the better of the two."""
    people: int
    """Rows that were tried."""
    common: float
    """Share of them who have the most common secret: what a guess without any record finds."""


@dataclass(frozen=True, kw_only=True)
class AttackedRelease:
    """A release under attack; private."""

    report: AttackReport
    stored: StoredGuess
    bound: float
    """The advantage that nobody exceeds, in expectation, at the epsilon and delta of the release."""
    epsilon: float
    delta: float


class ReleaseAttacks:
    """Attacks on the stored releases of one workspace."""

    def __init__(
        self, ledger: Ledger, planner: Planner, *, table: Callable[[str], DeskTable], rows: Callable[[str], Counts]
    ) -> None:
        self._ledger = ledger
        self._planner = planner
        self._table = table
        self._rows = rows

    def attack(self, plan_id: str, secret: str, *, runs: int = RUNS, progress: Progress = silent) -> AttackedRelease:
        entry = self._ledger.entry(plan_id)
        stored = None if entry is None or not is_release(entry) else self._ledger.result(plan_id)
        if entry is None or stored is None:
            raise Unknown("There is no stored release of this name to attack.")
        priced = self._planner.price(entry.plan_json, self._table(entry.dataset_id))
        if secret not in priced.domain or len(priced.domain) < 2:
            raise BadParameter("secret", f"'{printable(secret)}' must be one of several columns of the release.")
        progress("Opening the table", 0.0)
        whole = self._rows(entry.dataset_id)
        if not isinstance(whole, Table):
            raise Refused("An attack needs the rows of the table at the desk, and these stay on the cluster.")
        table = _sampled(whole)
        names = priced.domain.names
        rows = np.stack([np.asarray(table.codes[name]) for name in names], axis=1).astype(np.int64)

        def remake(inside: Flags) -> Model:
            counts = table.part(inside).project(names)
            return priced.mechanism.run(Kernel(counts, Noise(), priced.running))

        report = attack(
            priced.domain, rows, table.unit, secret, remake,
            runs=runs, sampled=table.rows < whole.rows, progress=progress,
        )  # fmt: skip
        budget = priced.terms.budget
        return AttackedRelease(
            report=report,
            stored=_stored_guess(Release(stored), rows, names, names.index(secret)),
            bound=most_advantage(float(budget.epsilon), float(budget.delta)),
            epsilon=float(budget.epsilon),
            delta=float(budget.delta),
        )


def _sampled(table: Table) -> Table:
    """The rows, or a random choice of them where there are too many."""
    if table.rows <= MOST_ROWS:
        return table
    kept = np.zeros(table.rows, dtype=bool)
    kept[np.argsort(Noise().keys(table.rows))[:MOST_ROWS]] = True
    return table.part(kept)


def _stored_guess(release: Release, rows: Codes, names: tuple[str, ...], secret: int) -> StoredGuess:
    chosen = rows[np.argsort(Noise().keys(len(rows)))[:MOST_TARGETS]]
    domain = release.domain.project(names)
    codes = release.points.codes[:, [release.domain.names.index(name) for name in names]]
    some = codes[np.argsort(Noise().keys(len(codes)))[: MOST_ROWS // 2]]
    told = PublishedRecords("stored", domain, some, release).guesses(chosen, secret)
    truth = chosen[:, secret]
    return StoredGuess(
        right=max(float(np.mean(guessed == truth)) for guessed in told.values()),
        people=len(chosen),
        common=float(np.bincount(truth).max() / len(truth)),
    )
