"""The desk's sessions: how they are priced, opened, found again and listed.

Opening goes the desk's way: plan (free) -> reserve in the ledger (the whole budget, committed) -> the mechanism's
`open` -> the first state in the session file (committed; the first stored one wins) -> the terms in the ledger
(committed) -> questions. A crash in between costs nothing more: asking for the same session again goes on where it
stopped.

**Privacy** No question is answered before the ledger holds the terms. So a session whose terms are stored but whose
state is missing may have answered before, and opening it afresh would be a second run for one payment: it is refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any

from core.base.errors import DeskError, Refused, Unknown, printable
from core.kernel.allowance import Allowance
from core.kernel.kernel import Kernel
from core.ledger.attempts import Attempt
from core.ledger.ledger import Entry, Ledger
from core.mechanisms.kit.interactive import Interactive
from core.planning.session_offers import proposed
from core.plans.canonical import canonical, identity
from core.plans.noise_choice import with_better_noise
from core.plans.pricing import MOST_EDITIONS, PricedSession, check_count, check_paid, price_session
from core.plans.session_plan import SessionPlan
from core.plans.session_terms import SESSION, SessionTerms, chosen_columns, narrowed
from core.plans.statements import DeskTable, by_present_budget, source_of
from core.plans.terms import is_release, is_session
from core.privacy.budget import Budget
from core.privacy.events import Cost
from core.privacy.noise import NoiseSource
from core.release.release import Release
from core.sessions.computing import written
from core.sessions.counts_in_memory import in_memory
from core.sessions.from_release import FromRelease, Released, Untouched
from core.sessions.kept.file import SessionFile
from core.sessions.kept.rows import SessionRow, StoredState, no_session
from core.sessions.pace import Pace
from core.sessions.session import Session, session_of
from core.sessions.settlement import Settlement
from core.table.counts import Counts

OPEN_SESSIONS = 16
"""Sessions whose state and counts stay in memory once they were asked something."""


class Sessions:
    """All sessions of one workspace."""

    def __init__(
        self,
        place: Path | str,
        ledger: Ledger,
        noise: NoiseSource,
        *,
        table: Callable[[str], DeskTable],
        counts: Callable[[str], Counts],
        pace: Pace,
    ) -> None:
        self.file = SessionFile(place)
        self._ledger = ledger
        self._noise = noise
        self._table = table
        self._counts = counts
        self._pace = pace
        self._at_hand = lru_cache(maxsize=OPEN_SESSIONS)(self._read)

    def plan(
        self,
        table: DeskTable,
        *,
        mechanism: str,
        budget: Budget,
        columns: Sequence[str] | None,
        earlier: str | None,
        edition: int,
        options: dict[str, Any],
    ) -> SessionPlan:
        """Price a session without spending anything; every refusal happens here.

        Where the usual options cannot be kept, those that the mechanism proposes are written into the terms.
        """
        narrow = chosen_columns(columns, table.domain)
        options = {**proposed(mechanism, budget, options, narrowed(table.domain, narrow), table.unit), **options}
        terms = SessionTerms(
            table=table.id,
            mechanism=mechanism,
            budget=budget,
            options=options,
            columns=narrow,
            earlier=earlier,
            edition=edition,
        )
        priced = with_better_noise(
            lambda chosen: self.price(chosen.write(), table),
            terms,
            paid=lambda plan_id: self._ledger.entry(plan_id) is not None,
            error=lambda each: each.mechanism.expected(each.domain, table.unit).mean,
        )
        return SessionPlan(
            table=table.id,
            mechanism=mechanism,
            budget=priced.terms.budget,
            options=options,
            columns=terms.columns,
            earlier=earlier,
            edition=edition,
            cost=priced.cost,
            amounts=priced.amounts,
            units=priced.units,
            expected_error=priced.mechanism.expected(priced.domain, table.unit),
            hard_answers=priced.mechanism.hard_answers(priced.domain, table.unit),
        )

    def price(self, content: str, table: DeskTable) -> PricedSession:
        """What a session costs by its words, now; every refusal happens here."""
        priced = self._price(content, table)
        if priced.terms.earlier is not None:
            self._released(priced.terms.earlier, table)
        return priced

    def begin(self, entry: Entry, noise: NoiseSource, attempt: Attempt) -> bytes:
        """Open a paid session unless that was done already; returns its terms, which the ledger keeps."""
        if self.file.find(entry.plan_id) is None:
            priced = self._price(entry.plan_json, self._table(entry.dataset_id))
            table, mechanism, earlier = priced.table, priced.mechanism, priced.terms.earlier
            start = None if earlier is None else Released.of(*self._released(earlier, table), priced.domain)
            allowance = Allowance(priced.cost)
            kernel = Kernel(self._paid_counts(priced, entry), noise, allowance)
            state = mechanism.save(mechanism.open(kernel, start))
            self.file.add(
                id=entry.plan_id,
                plan_id=entry.plan_id,
                dataset_id=table.id,
                terms_json=entry.plan_json,
                state=StoredState(state, written(allowance)),
                attempt=attempt,
            )
        return entry.plan_json.encode()

    def from_release(self, plan_id: str, table: DeskTable, edition: int) -> Session:
        """A session that answers from a stored release, at no cost."""
        check_count(edition, "edition", MOST_EDITIONS)
        release, entry = self._released(plan_id, table)
        terms = canonical({"kind": SESSION, "table": table.id, "release": plan_id, "edition": edition})
        id = identity(terms)
        if self.file.find(id) is None:
            Released.of(release, entry, table.domain)
            state = StoredState(b"", written(Allowance(Cost(()))))
            self.file.add(id=id, plan_id=plan_id, dataset_id=table.id, terms_json=terms, state=state)
        return self.session(id)

    def session(self, id: str) -> Session:
        """The session of this id, the same object for all who ask while it is in use."""
        row = self.file.find(id)
        entry = self._ledger.entry(row.plan_id if row else id)
        if entry is None or (row is None and not is_session(entry)):
            raise no_session(id)
        if entry.status != "stored":
            raise Refused("This session is paid for but was never opened; ask for it again at no cost.")
        if row is None:
            raise Refused("The session file no longer holds this session; restore the workspace from a backup.")
        return self._at_hand(id)

    def sessions(self, table: str | None = None) -> list[Session]:
        """Newest first: of one table, or all."""
        return [self.session(row.id) for row in self.file.rows(table) if self._opened(row)]

    def settle(self) -> None:
        """Let every session that has ended give back what it never used, where a crash kept it from that."""
        for row in self.file.rows():
            if row.reason is not None and row.id == row.plan_id and self._opened(row):
                # A table that cannot be read now keeps no other one waiting; the next start tries again.
                with suppress(DeskError):
                    self.session(row.id).settle()

    def _opened(self, row: SessionRow) -> bool:
        entry = self._ledger.entry(row.plan_id)
        return entry is not None and entry.status == "stored"

    def _read(self, id: str) -> Session:
        row = self.file.row(id)
        entry = self._ledger.entry(row.plan_id)
        assert entry is not None
        table, terms = self._table(row.dataset_id), json.loads(row.terms_json)
        if "release" in terms:
            made = FromRelease.of(entry, table.domain, lambda: self._released(row.plan_id, table)[0])
            backing: Interactive = made
            domain = made.domain
            counts: Callable[[], Counts] = partial(Untouched, domain, table.unit)
            settlement = None
        else:
            priced = self._price(entry.plan_json, table)
            backing, domain, counts = priced.mechanism, priced.domain, cache(lambda: self._paid_counts(priced, entry))
            settlement = Settlement(
                plan_id=entry.plan_id, ledger=self._ledger, priced=lambda: self._price(entry.plan_json, table)
            )
        return session_of(
            row,
            mechanism=backing,
            domain=domain,
            unit=table.unit,
            paid=lambda: self._share(entry),
            file=self.file,
            noise=self._noise,
            counts=counts,
            pace=self._pace,
            settlement=settlement,
        )

    def _price(self, content: str, table: DeskTable) -> PricedSession:
        return price_session(content, table, self._ledger.account_of(table.id))

    def _paid_counts(self, priced: PricedSession, entry: Entry) -> Counts:
        """The private counts, for questions that were paid for; what was answered before can be read in any case."""
        check_paid(priced, entry)
        return in_memory(self._counts(priced.table.id).project(priced.domain.names))

    def _share(self, entry: Entry) -> float:
        """What a session takes of the table's budget as it is now."""
        account = self._ledger.account_of(entry.dataset_id)
        entries = by_present_budget(account, self._ledger.entries(fingerprint=account.fingerprint))
        units = next(each.units for each in entries if each.plan_id == entry.plan_id)
        return units / account.total if account.total else 1.0

    def _released(self, plan_id: str, table: DeskTable) -> tuple[Release, Entry]:
        """A stored release of the very same data and schema."""
        entry = self._ledger.entry(plan_id)
        stored = self._ledger.result(plan_id) if entry is not None and is_release(entry) else None
        if entry is None or stored is None:
            raise Unknown(f"This workspace holds no finished release '{printable(plan_id)}'; choose another.")
        dataset, other = self._ledger.dataset(table.id), self._ledger.dataset(entry.dataset_id)
        release = Release(stored)
        if source_of(dataset) != source_of(other) or release.certificate.schema_digest != table.domain.digest:
            raise Refused("This release is of another table or schema; choose one of the same table.")
        return release, entry
