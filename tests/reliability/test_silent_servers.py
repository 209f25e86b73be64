"""A server that is stopped or cut off in the middle of a transaction: the database gives its lock to the next one."""

from __future__ import annotations

import os
import signal
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread

import pytest

from core.base.errors import DeskError
from core.ledger.ledger import Ledger
from core.ledger.postgres import server
from tests.core.ledger.test_ledger import declared, opened, reserve
from tests.databases import StartedServer
from tests.forked import processes

pytestmark = pytest.mark.slow

SILENCE = 2.0
"""Seconds, so that nobody waits long."""
SOON = 15
"""Seconds in which another server goes on, however busy this machine is; the lock itself is waited for longer."""
SOCKET = ".s.PGSQL.5432"


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "SILENCE", SILENCE)


@pytest.fixture
def address(postgres: StartedServer) -> str:
    address = postgres.new()
    ledger = Ledger(address)
    opened(ledger)
    declared(ledger)
    return address


class Relay:
    """Between a client and a server: it hands on what they say until the line is cut, which neither is told."""

    def __init__(self, folder: Path, to: Path) -> None:
        self.cut = Event()
        self._to = to
        self._door = socket.socket(socket.AF_UNIX)
        self._door.bind(str(folder / SOCKET))
        self._door.listen()
        self._open = [self._door]
        Thread(target=self._take, daemon=True).start()

    def close(self) -> None:
        for each in self._open:
            each.close()

    def _take(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._door.accept()
                behind = socket.socket(socket.AF_UNIX)
                behind.connect(str(self._to / SOCKET))
                self._open += [client, behind]
                for one, other in ((client, behind), (behind, client)):
                    Thread(target=self._hand_on, args=(one, other), daemon=True).start()

    def _hand_on(self, one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while said := one.recv(1 << 16):
                if not self.cut.is_set():
                    other.sendall(said)


@contextmanager
def relayed(postgres: StartedServer) -> Iterator[tuple[Relay, Path]]:
    with tempfile.TemporaryDirectory(prefix="cut-", dir="/tmp") as folder:
        relay = Relay(Path(folder), postgres.folder)
        try:
            yield relay, Path(folder)
        finally:
            relay.close()


def stalls(address: str, holds: Path, said: Path) -> None:
    """A server that holds the lock while somebody stops it, and says what became of its transaction."""
    server.SILENCE = SILENCE
    ledger = Ledger(address)
    try:
        with ledger.database.write() as connection:
            connection.execute("UPDATE account SET spent = 50")
            holds.touch()
            time.sleep(5 * SILENCE)
        said.write_text("committed")
    except DeskError as problem:
        said.write_text(str(problem))


def until(there: Path) -> None:
    end = time.monotonic() + 60
    while not there.exists() or not (there.stat().st_size or there.name == "holds"):
        assert time.monotonic() < end
        time.sleep(0.02)


def goes_on(address: str) -> None:
    start = time.monotonic()
    ledger = Ledger(address)
    assert reserve(ledger, "p", 1).units == 1
    assert ledger.account("ab").spent == 1
    assert time.monotonic() - start < SOON


def test_a_stopped_server_gives_its_lock_up(tmp_path: Path, address: str) -> None:
    holds, said = tmp_path / "holds", tmp_path / "said"
    stopped = processes.Process(target=stalls, args=(address, holds, said))
    stopped.start()
    try:
        until(holds)
        assert stopped.pid is not None
        os.kill(stopped.pid, signal.SIGSTOP)
        goes_on(address)
        os.kill(stopped.pid, signal.SIGCONT)
        until(said)
    finally:
        stopped.kill()
        stopped.join(60)
    assert "was lost; try again" in said.read_text()
    assert Ledger(address).account("ab").spent == 1, "what it had begun is undone"


def test_a_server_that_is_cut_off_gives_its_lock_up(tmp_path: Path, address: str, postgres: StartedServer) -> None:
    holds = tmp_path / "holds"
    with relayed(postgres) as (relay, folder):
        own = address.replace(str(postgres.folder), str(folder))
        away = processes.Process(target=stalls, args=(own, holds, tmp_path / "said"))
        away.start()
        try:
            until(holds)
            relay.cut.set()
            goes_on(address)
        finally:
            away.kill()
            away.join(60)


def test_a_server_that_computes_for_long_keeps_its_lock(address: str) -> None:
    """How long a draw takes must not decide whether it is kept."""
    ledger, hasty = Ledger(address), Ledger(address, patience=0.05)
    with ledger.database.write() as connection:
        connection.execute("UPDATE account SET spent = 50")
        time.sleep(2.5 * SILENCE)
        with pytest.raises(DeskError, match="Another server is using"):
            reserve(hasty, "p", 1)
    assert ledger.account("ab").spent == 50
    with ledger.database.snapshot() as connection:
        time.sleep(1.5 * SILENCE)
        connection.execute("SELECT 1")


def test_every_connection_is_looked_after(address: str) -> None:
    with Ledger(address).database.read() as connection:
        for name, wanted in (
            ("idle_in_transaction_session_timeout", "2s"),
            ("client_connection_check_interval", "5s"),
            ("lock_timeout", "30s"),
        ):
            found = connection.execute("SELECT current_setting(?, true) AS told", (name,)).fetchone()
            assert found["told"] in (wanted, None), name  # older servers do not know all
