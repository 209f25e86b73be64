"""Releases at the desk: run from the words that were paid for, packed, and found again."""

from __future__ import annotations

from collections.abc import Callable

from core.desk.planner import Planner
from core.desk.told_figures import ToldFigures
from core.kernel.kernel import Kernel
from core.ledger.ledger import Entry, Ledger
from core.mechanisms.kit.protocol import Progress
from core.models.widened import widened
from core.plans.pricing import check_paid, most_records
from core.plans.statements import DeskTable
from core.plans.terms import is_decision, is_discovery, is_session
from core.privacy.noise import NoiseSource
from core.release.certificate import certify
from core.release.copies.redrawing import Redrawing, draw_copies
from core.release.drawn import Drawn
from core.release.files.nonlinear_table import own_answers
from core.release.lawful import records_for
from core.release.listing import announced
from core.release.release import Release
from core.release.sealing import seal
from core.table.spark.spark_table import SparkTable
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
        counts: Callable[[str], Table | SparkTable],
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
        most = most_records(table.domain, priced.terms.copies)
        rows = priced.terms.records or min(records_for(table.domain, model.total), most)
        budget, generator = priced.terms.budget, noise.generator()
        certificate = certify(entry.plan_id, table.domain, table.unit, budget, mechanism, model, rows, figure)
        certificate = certificate.numbered(self._ledger.spend_number(entry.plan_id))
        asked = announced(mechanism.queries, priced.domain)
        own = own_answers(model, mechanism.queries)
        drawn = Drawn.of(widened(table.domain, model), rows, held.layout, generator, asked, own)
        if measuring := priced.measuring:
            progress("Measuring the release", 0.9)
            kernel = Kernel(counts, noise, measuring.cost(priced.domain, table.unit))
            published = drawn.published.focused(priced.domain)
            certificate = certificate.with_measured(measuring.run(kernel, published, priced.terms.measure))
        redrawing = Redrawing(mechanism, table.unit, model, most_records(table.domain))
        copies = draw_copies(
            redrawing,
            priced.terms.copies,
            drawn,
            generator,
            lambda share: progress("Drawing copies", 0.9 + 0.1 * share),
        )
        return seal(drawn, certificate, copies).zip()

    def stored(self, plan_id: str) -> Release | None:
        """A finished release; None while there is none, and for what sessions and decisions give."""
        entry = self._ledger.entry(plan_id)
        other = entry is None or is_session(entry) or is_discovery(entry) or is_decision(entry)
        stored = None if other else self._ledger.result(plan_id)
        return Release(stored) if stored else None
