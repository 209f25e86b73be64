"""Releases at the desk: run from the words that were paid for, packed, and found again."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import numpy as np

from core.base.arrays import Codes
from core.desk.planner import Planner
from core.desk.told_figures import ToldFigures
from core.kernel.kernel import Kernel
from core.ledger.ledger import Entry, Ledger
from core.mechanisms.kit.protocol import Progress
from core.mechanisms.measured.measured import Measured
from core.models.protocol import Model
from core.models.widened import widened
from core.plans.pricing import check_paid, most_records
from core.plans.statements import DeskTable
from core.plans.terms import is_decision, is_discovery, is_session
from core.privacy.noise import NoiseSource
from core.release.certificate import certify
from core.release.copies.redrawing import Redrawing
from core.release.lawful import records_for
from core.release.listing import announced
from core.release.published import Published
from core.release.release import Release
from core.table.table import Table


class Releases:
    """All releases of one workspace."""

    def __init__(
        self,
        ledger: Ledger,
        planner: Planner,
        told: ToldFigures,
        *,
        table: Callable[[str], DeskTable],
        counts: Callable[[str], Table],
    ) -> None:
        self._ledger = ledger
        self._planner = planner
        self._told = told
        self._table = table
        self._counts = counts

    def run(self, entry: Entry, noise: NoiseSource, progress: Progress) -> bytes:
        """Make the release that was paid for."""
        priced = self._planner.price(entry.plan_json, self._table(entry.dataset_id))
        check_paid(priced, entry)
        table, mechanism = priced.table, priced.mechanism
        # Before any noise is drawn: from public facts, and an error in it is no outcome.
        figure = self._told.told(priced)
        progress("Opening the table", 0.0)
        held = self._counts(table.id)
        counts = held.project(priced.domain.names)
        model = mechanism.run(Kernel(counts, noise, priced.running), lambda stage, share: progress(stage, 0.8 * share))
        progress("Drawing records", 0.8)
        most, copies = most_records(table.domain, priced.terms.copies), priced.terms.copies
        records = priced.terms.records or min(records_for(table.domain, model.total), most)
        budget = priced.terms.budget
        certificate = certify(entry.plan_id, table.domain, table.unit, budget, mechanism, model, records, figure)
        certificate = certificate.numbered(self._ledger.spend_number(entry.plan_id))
        measuring = priced.measuring
        redrawing, drawn = Redrawing(mechanism, table.unit, model, most_records(table.domain)), count()

        def again(generator: np.random.Generator) -> tuple[Codes, Model]:
            progress("Drawing copies", 0.9 + 0.1 * next(drawn) / copies)
            return redrawing(generator)

        def measure(published: Published) -> Measured:
            assert measuring is not None
            progress("Measuring the release", 0.9)
            kernel = Kernel(counts, noise, measuring.cost(priced.domain, table.unit))
            return measuring.run(kernel, published.focused(priced.domain), priced.terms.measure)

        return Release.pack(
            widened(table.domain, model),
            certificate,
            noise.generator(),
            held.layout,
            measure if measuring else None,
            announced(mechanism.queries, priced.domain),
            again if copies else None,
            copies,
        ).zip()

    def stored(self, plan_id: str) -> Release | None:
        """A finished release; None while there is none, and for what sessions and decisions give."""
        entry = self._ledger.entry(plan_id)
        other = entry is None or is_session(entry) or is_discovery(entry) or is_decision(entry)
        stored = None if other else self._ledger.result(plan_id)
        return Release(stored) if stored else None
