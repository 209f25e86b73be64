"""What a session that has ended gives back: all of its reservation that no noise was ever drawn for.

**Privacy** `ledger/refunds.py` proves this safe if `used` bounds all that may have been seen of the session, and if it
draws nothing afterwards. The first: what is left at the end is written in the transaction that closes the session, less
what a turn that ended in an error took, and what was begun counts whole (`Allowance.used`). A turn that was killed is
not counted: what it drew died with it. The second: a closed session never opens again in its file; but an older copy of
the file, or of the whole workspace, may hold it open. So its end is noted in the journal before anything is given back,
and a session that has an end there, or a refund in the ledger, draws nothing, whatever its file says. And a copy that
has forgotten answers does not know what was used: it gives nothing back. Answering and ending wait for each other on a
lock in the journal, so no answer of one copy is under way while another one ends the session.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

from core.kernel.allowance import Allowance
from core.ledger.ledger import Ledger
from core.ledger.refunds import lowered
from core.plans.pricing import PricedSession
from core.plans.run_once import is_void
from core.privacy.privacy_filter import Amounts


@dataclass(frozen=True, kw_only=True)
class Settlement:
    """The end of one paid session, between its file, the journal and the ledger."""

    plan_id: str
    ledger: Ledger
    priced: Callable[[], PricedSession]

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Nobody else answers this session or ends it, in any copy of the workspace that shares the journal."""
        journal = self.ledger.journal
        with nullcontext() if journal is None else journal.only(self.plan_id):
            yield

    def older(self, answers: int) -> bool:
        """Whether a file that remembers so many answers was put back: some have left the desk, or the session ended."""
        entry, journal = self.ledger.entry(self.plan_id), self.ledger.journal
        if entry is None or entry.used is not None:
            return True
        return journal is not None and (journal.answers(self.plan_id) > answers or journal.ended(self.plan_id))

    def note_answer(self, number: int) -> None:
        if self.ledger.journal is not None:
            self.ledger.journal.note_answer(self.plan_id, number)

    def settle(self, left: str, answers: int) -> None:
        """Give back what is left at the end, after so many answers; the first time counts, and what a crash keeps from
        happening is made good by the next call."""
        with self.turn():
            entry, journal = self.ledger.entry(self.plan_id), self.ledger.journal
            if entry is None or entry.used is not None or is_void(entry) or self.ledger.lost():
                return
            if journal is not None and journal.answers(self.plan_id) > answers:
                return
            used = self._used(left, json.loads(entry.amounts))
            if used is None:
                return
            if journal is not None:
                journal.note_end(self.plan_id)
            self.ledger.give_back(self.plan_id, used)

    def _used(self, left: str, paid: Amounts) -> Amounts | None:
        """What was used in each way; None where nothing is left of it, or the prices were others when it was paid."""
        priced = self.priced()
        if paid != priced.amounts:
            return None
        cost = Allowance.from_json(json.loads(left)).used(priced.cost)
        counted = priced.account.filters.amounts(cost)
        # A way that could not count the whole cannot count a part of it either: what it added up stays as it is.
        used = {way: None if whole is None else counted[way] for way, whole in paid.items()}
        return None if used == paid else used

    def given_back(self) -> float:
        """What came back, as a share of the account's total as it is now."""
        entry = self.ledger.entry(self.plan_id)
        if entry is None or entry.used is None:
            return 0.0
        account = self.ledger.account_of(entry.dataset_id)
        whole = lowered(json.loads(account.sums), json.loads(entry.used), json.loads(entry.amounts))
        before, now = account.filters.parts(whole), account.filters.parts(json.loads(account.sums))
        return 0.0 if before is None or now is None or not account.total else (before - now) / account.total
