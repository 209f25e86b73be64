"""Leases: one at a plan at a time, renewed while it lasts, taken over when it ended, and worth nothing afterwards."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from threading import enumerate as enumerate_threads
from time import sleep
from typing import Any

import pytest

from core.base.errors import BadParameter, Refused
from core.ledger import leases
from core.ledger.leases import Lease
from core.ledger.ledger import Ledger
from tests.core.ledger.test_ledger import declared, opened, reserve
from tests.databases import StartedServer

pytestmark = pytest.mark.slow


@pytest.fixture
def ledger(postgres: StartedServer) -> Ledger:
    ledger = Ledger(postgres.new())
    opened(ledger)
    declared(ledger)
    reserve(ledger, "p", 1)
    return ledger


def taken_over(ledger: Ledger, seconds: float = 60.0) -> None:
    """By a server that holds it so long, whoever held it before."""
    with ledger.database.write() as connection:
        until = "clock_timestamp() + ? * interval '1 s'"
        connection.execute(f"UPDATE lease SET holder = 'another', until = {until}", (seconds,))


def test_threads_and_desks_take_turns(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "LOOK_AGAIN", 0.001)
    at_it: list[int] = []
    most: list[int] = []

    def attempt() -> None:
        for _ in range(5):
            with ledger.attempts.only("p"):
                at_it.append(1)
                most.append(len(at_it))
                at_it.pop()

    threads = [Thread(target=attempt) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(most), max(most)) == (20, 1)


def test_an_error_ends_an_attempt_and_other_plans_do_not_wait(ledger: Ledger) -> None:
    attempts = ledger.attempts
    with pytest.raises(KeyError), attempts.only("one"), attempts.only("another"):
        assert attempts.under_way("one")
        assert not attempts.under_way("third")
        raise KeyError
    assert not attempts.under_way("one")


def until(ledger: Ledger) -> Any:
    with ledger.database.read() as connection:
        return connection.execute("SELECT until FROM lease").fetchone()["until"]


def waited_for(seen: Callable[[], bool]) -> bool:
    """Whether it comes to pass in seconds, of which a renewal every ten milliseconds needs few."""
    return any(seen() or sleep(0.02) for _ in range(500))


def renewing() -> list[Thread]:
    return [thread for thread in enumerate_threads() if thread.name == "lease"]


def test_it_is_renewed_while_it_lasts_and_keeps_no_program_running(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "RENEWALS", 6_000)
    with ledger.attempts.only("p") as lease:
        first = until(ledger)
        assert waited_for(lambda: until(ledger) > first)
        [thread] = renewing()
        assert thread.daemon
        assert ledger.store("p", b"mine", lease) == b"mine"
    assert not renewing()


def test_what_was_taken_over_is_not_renewed(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "RENEWALS", 6_000)
    with ledger.attempts.only("p"):
        taken_over(ledger)
        end = until(ledger)
        assert waited_for(lambda: not renewing()), "there is nothing to renew any more"
        assert until(ledger) == end


def test_it_runs_as_long_as_servers_are_told() -> None:
    told = (Path(__file__).resolve().parents[3] / "dashboard" / "README.md").read_text(encoding="utf-8")
    assert "holds a lease of 60 seconds, renewed every ten" in told
    assert (leases.SECONDS, leases.SECONDS / leases.RENEWALS) == (60, 10)


def test_what_was_taken_over_stores_nothing(ledger: Ledger) -> None:
    with ledger.attempts.only("p") as lease:
        taken_over(ledger)
        with pytest.raises(Refused, match="taken this plan over"):
            ledger.store("p", b"mine", lease)
        with ledger.database.write() as connection:
            connection.execute("UPDATE lease SET plan_id = 'other'")
        with pytest.raises(Refused, match="taken this plan over"):
            ledger.store("p", b"mine", lease)
        with ledger.database.write() as connection:
            connection.execute("UPDATE lease SET plan_id = 'p'")
    assert ledger.result("p") is None
    assert ledger.attempts.under_way("p"), "whoever lost it takes nothing from the new holder"


def test_a_lease_that_ended_is_kept_by_its_holder_until_another_takes_it(ledger: Ledger) -> None:
    with ledger.attempts.only("p") as lease:
        with ledger.database.write() as connection:
            connection.execute("UPDATE lease SET until = clock_timestamp() - interval '1 s'")
        assert not ledger.attempts.under_way("p")
        assert ledger.store("p", b"mine", lease) == b"mine"


def test_who_waits_takes_over_when_it_ends(ledger: Ledger) -> None:
    """The row of a server that died, which nobody renews."""
    with ledger.database.write() as connection:
        connection.execute("INSERT INTO lease VALUES ('p', 'dead', clock_timestamp() + interval '1 s')")
    assert ledger.attempts.under_way("p")
    with ledger.attempts.only("p") as lease:
        assert ledger.store("p", b"mine", lease) == b"mine"
    with ledger.database.read() as connection:
        assert connection.execute("SELECT holder FROM lease").fetchall() == []


def test_a_take_over_waits_for_a_result_that_is_being_stored(ledger: Ledger) -> None:
    lease = Lease("p", "first")
    with ledger.database.write() as connection:
        connection.execute("INSERT INTO lease VALUES ('p', 'first', clock_timestamp() - interval '1 s')")
    seen: list[Any] = []

    def wait() -> None:
        with ledger.attempts.only("p"):
            seen.append(ledger.result("p"))

    with ledger.database.write() as connection:
        lease.check(connection)
        waiting = Thread(target=wait)
        waiting.start()
        sleep(0.5)
        assert seen == []
        connection.execute(
            "UPDATE plan SET status = 'stored', result = ?, digest = ?, stored_at = 'now' WHERE id = 'p'",
            (b"kept", hashlib.sha256(b"kept").hexdigest()),
        )
    waiting.join()
    assert seen == [b"kept"], "whoever takes over knows what was stored before"


def test_ids_are_those_of_plans(ledger: Ledger) -> None:
    with pytest.raises(BadParameter), ledger.attempts.only("../p"):
        raise AssertionError
    with pytest.raises(BadParameter):
        ledger.attempts.under_way("../p")
