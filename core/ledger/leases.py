"""One attempt at a paid plan at a time, where servers share a database: whoever is at a plan holds a lease on it.

A lease is a row with a random name of its holder and a time, by the clock of the database, at which it ends. The holder
renews it, from a thread of its own, several times before that. A server that dies renews nothing more; when its lease
has ended another takes the plan over.

**Privacy** As in `attempts.py`, which draw is stored must not depend on how long each took. A server that is cut off
but not dead may still be at a plan when another takes it over. From then on only the new holder can store: whatever is
kept of an attempt is kept in a transaction that looks up the holder and holds its row (`Lease.check`), so no take-over
comes in between. Thus the draw of the first is lost at the moment of the take-over, as if its server had been killed
then, and never by coming second. When that moment comes depends on the network and on the renewing thread, not on the
run, which would have to keep every other thread from running for a minute.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Event, Thread
from time import sleep

from core.base.errors import DeskError, Refused
from core.ledger.attempts import check_plan_id
from core.ledger.database import Connection, Database, Layout

SECONDS = 60.0
"""How long a lease runs: so long nobody takes over from a server that died, or that cannot reach the database."""
RENEWALS = 6
"""In that time."""
LOOK_AGAIN = 0.25
"""Seconds between two looks of whoever waits."""

LAYOUT = Layout(
    noun="list of leases",
    mark=0x52_44_4C_53,  # "RDLS"
    version=1,
    tables=("CREATE TABLE lease (plan_id TEXT PRIMARY KEY, holder TEXT NOT NULL, until TIMESTAMPTZ NOT NULL)",),
)
FROM_NOW = "clock_timestamp() + make_interval(secs => ?)"


@dataclass(frozen=True)
class Lease:
    """One attempt; it may have been taken over."""

    plan_id: str
    holder: str

    def check(self, connection: Connection) -> None:
        # The row is locked until this transaction ends: who wants to take over waits for that.
        query = "SELECT holder FROM lease WHERE plan_id = ? FOR UPDATE"
        found = connection.execute(query, (self.plan_id,)).fetchone()
        if found is None or found["holder"] != self.holder:
            raise Refused("Another server has taken this plan over; ask for it again at no cost.")


class LeasedAttempts:
    """The leases of all servers on one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def runs_out(self) -> float:
        return SECONDS

    @contextmanager
    def only(self, plan_id: str) -> Iterator[Lease]:
        check_plan_id(plan_id)
        lease = Lease(plan_id, secrets.token_hex(16))
        while not self._take(lease):
            sleep(LOOK_AGAIN)
        over = Event()
        renewing = Thread(target=self._renew, args=(lease, over), name="lease", daemon=True)
        renewing.start()
        try:
            yield lease
        finally:
            over.set()
            renewing.join()
            # What cannot be given up now ends by itself.
            with suppress(DeskError), self._database.read() as connection:
                connection.execute("DELETE FROM lease WHERE plan_id = ? AND holder = ?", (lease.plan_id, lease.holder))

    def under_way(self, plan_id: str) -> bool:
        check_plan_id(plan_id)
        with self._database.read() as connection:
            query = "SELECT holder FROM lease WHERE plan_id = ? AND until > clock_timestamp()"
            return connection.execute(query, (plan_id,)).fetchone() is not None

    def _take(self, lease: Lease) -> bool:
        """In one statement, which takes what nobody holds and what has ended."""
        with self._database.read() as connection:
            taken = connection.execute(
                f"""INSERT INTO lease VALUES (?, ?, {FROM_NOW}) ON CONFLICT (plan_id) DO UPDATE
                SET holder = excluded.holder, until = excluded.until WHERE lease.until <= clock_timestamp()""",
                (lease.plan_id, lease.holder, SECONDS),
            )
            return taken.rowcount == 1

    def _renew(self, lease: Lease, over: Event) -> None:
        """Until the attempt is over or was taken over; a server that cannot be reached is tried again."""
        while not over.wait(SECONDS / RENEWALS):
            with suppress(DeskError), self._database.read() as connection:
                held = connection.execute(
                    f"UPDATE lease SET until = {FROM_NOW} WHERE plan_id = ? AND holder = ?",
                    (SECONDS, lease.plan_id, lease.holder),
                )
                if held.rowcount == 0:
                    return
