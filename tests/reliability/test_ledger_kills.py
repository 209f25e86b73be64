"""SIGKILL at every step of the ledger, with mutants that show that the audit can fail."""

from __future__ import annotations

import hashlib
import itertools
import os
import random
import signal
import threading
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pytest

from core.ledger.ledger import Entry, Ledger
from core.privacy.privacy_filter import PURE
from tests.databases import BOTH, traced
from tests.forked import processes
from tests.reliability.test_ledger_races import opened

STEPS = {
    "before reserve": None,
    "reserve BEGIN": None,
    "reserve UPDATE": None,
    "reserve INSERT": None,
    "reserve COMMIT": None,
    "after reserve": "reserved",
    "mid-run": "reserved",
    "store BEGIN": "reserved",
    "store UPDATE": "reserved",
    "store COMMIT": "reserved",
    "after store": "stored",
    "after return": "stored",
}
"""Where a desk is killed (a statement: before it takes effect), and what the ledger then holds of its first plan."""


class Fuse:
    """Kills its own process when a step is reached for the nth time."""

    def __init__(self, step: str | None, nth: int) -> None:
        self.step, self.nth = step, nth
        self.phase = ""
        self.tracing = ExitStack()
        self.reached: Counter[str] = Counter()

    def reach(self, step: str) -> None:
        self.reached[step] += 1
        if step == self.step and self.reached[step] == self.nth:
            os.kill(os.getpid(), signal.SIGKILL)

    def watch(self, ledger: Ledger) -> None:
        """Reaches a step before each SQL statement, 'store COMMIT' for example."""
        self.tracing.enter_context(traced(ledger.database, lambda word: self.reach(f"{self.phase} {word}")))


def desk(place: Path | str, log: Path, step: str | None, nth: int, size: int, hasty: bool) -> None:
    """A desk that answers plan after plan until it is killed; it starts with the last plans of its predecessor.

    A hasty desk returns before it stores: the mutant.
    """
    ledger, fuse = Ledger(place), Fuse(step, nth)
    account, first = ledger.account("ab"), max(0, len(ledger.entries()) - 3)
    fuse.watch(ledger)
    returned = os.open(log, os.O_CREAT | os.O_APPEND | os.O_WRONLY)

    def say(word: str, plan_id: str, detail: str) -> None:
        os.write(returned, f"{word} {plan_id} {detail}\n".encode())

    for index in itertools.count(first):
        plan_id, units = f"p{index}", index + 1
        fuse.reach("before reserve")
        fuse.phase = "reserve"
        entry = ledger.reserve(plan_id=plan_id, dataset_id="ab", plan_json="{}", amounts={PURE: units}, account=account)
        say("reserved", plan_id, str(units))
        fuse.reach("after reserve")
        answer = ledger.result(plan_id) if entry.status == "stored" else None
        if answer is None:
            answer = os.urandom(size)
            fuse.reach("mid-run")
            if hasty:
                say("returned", plan_id, hashlib.sha256(answer).hexdigest())
            fuse.phase = "store"
            answer = ledger.store(plan_id, answer)
            fuse.reach("after store")
        say("returned", plan_id, hashlib.sha256(answer).hexdigest())
        fuse.reach("after return")


def crew(place: Path | str, log: Path, size: int) -> None:
    """Two desks in one process, at work on the same plans."""
    threading.Thread(target=desk, args=(place, log, None, 0, size, False), daemon=True).start()
    desk(place, log, None, 0, size, False)


class Auditor:
    """Checks the ledger against everything that was ever said aloud, and against what it saw last time."""

    def __init__(self, folder: Path, books: Path | str) -> None:
        self.books, self.log = books, folder / "log"
        self.seen: dict[str, Entry] = {}
        opened(Ledger(books), "ab", 2**40)

    def audit(self) -> None:
        ledger = Ledger(self.books)
        rows = {entry.plan_id: entry for entry in ledger.entries()}
        assert ledger.account("ab").spent == sum(entry.units for entry in rows.values())
        if isinstance(self.books, Path):
            with ledger.database.read() as connection:
                assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        for line in self.log.read_text().splitlines() if self.log.exists() else []:
            word, plan_id, detail = line.split()
            assert plan_id in rows, "an answer or a receipt without a committed spend"
            if word == "reserved":
                assert rows[plan_id].units == int(detail)
            else:
                result = ledger.result(plan_id)
                assert result is not None, "an answer that is not stored"
                assert hashlib.sha256(result).hexdigest() == detail, "two answers for one plan"
        for plan_id, entry in self.seen.items():
            assert rows[plan_id].units == entry.units
            assert entry.digest in (None, rows[plan_id].digest)
        self.seen = rows

    def kill_at(self, step: str, nth: int, *, hasty: bool = False) -> None:
        child = processes.Process(target=desk, args=(self.books, self.log, step, nth, 64, hasty))
        child.start()
        child.join(60)
        assert child.exitcode == -signal.SIGKILL, f"{step} was never reached"

    def returned(self) -> int:
        return self.log.read_text().count("returned ") if self.log.exists() else 0

    def kill_at_random(self) -> None:
        """Kill at some moment after the child has returned an answer of its own, however slow the machine is."""
        before = self.returned()
        child = processes.Process(target=crew, args=(self.books, self.log, 200_000))
        child.start()
        while child.is_alive() and self.returned() == before:
            time.sleep(0.001)
        time.sleep(random.uniform(0, 0.04))
        child.kill()
        child.join(60)
        assert child.exitcode == -signal.SIGKILL


@pytest.mark.parametrize("books", BOTH, indirect=True)
@pytest.mark.parametrize("step", STEPS)
def test_what_a_sigkill_leaves(tmp_path: Path, books: Path | str, step: str) -> None:
    auditor = Auditor(tmp_path, books)
    auditor.kill_at(step, 1)
    auditor.audit()
    assert {entry.plan_id: entry.status for entry in auditor.seen.values()} == (
        {"p0": STEPS[step]} if STEPS[step] else {}
    )


@pytest.mark.exhaustive
def test_sigkill_at_every_step_of_one_ledger(tmp_path: Path, books: Path | str) -> None:
    auditor = Auditor(tmp_path, books)
    for nth, step in itertools.product((1, 2), STEPS):
        auditor.kill_at(step, nth)
        auditor.audit()
    assert len(auditor.seen) > 3


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS)
def test_sigkill_at_every_step_forty_times(tmp_path: Path, books: Path | str, step: str) -> None:
    """Each desk takes over what its killed predecessor left, so forty kills test forty different ledgers."""
    auditor = Auditor(tmp_path, books)
    for kill in range(40):
        auditor.kill_at(step, 1 + kill % 3)
        auditor.audit()
    assert auditor.returned() or step.startswith("before")


@pytest.mark.exhaustive
@pytest.mark.parametrize("books", BOTH, indirect=True)
def test_sigkill_at_random_moments(tmp_path: Path, books: Path | str) -> None:
    auditor = Auditor(tmp_path, books)
    kills = 16 if isinstance(books, Path) else 8
    for _ in range(kills):
        auditor.kill_at_random()
        auditor.audit()
    assert auditor.returned() >= kills


def test_a_plan_killed_before_it_was_stored_runs_again_for_nothing(tmp_path: Path, books: Path | str) -> None:
    auditor = Auditor(tmp_path, books)
    auditor.kill_at("store COMMIT", 1)
    auditor.audit()
    assert [entry.plan_id for entry in Ledger(auditor.books).pending()] == ["p0"]
    auditor.kill_at("after return", 1)
    auditor.audit()
    ledger = Ledger(auditor.books)
    assert ledger.pending() == []
    assert ledger.account("ab").spent == 1


def test_a_stored_answer_that_was_never_returned_comes_back_unchanged(tmp_path: Path, books: Path | str) -> None:
    auditor = Auditor(tmp_path, books)
    auditor.kill_at("after store", 1)
    auditor.audit()
    stored = Ledger(auditor.books).result("p0")
    assert "returned" not in auditor.log.read_text()
    auditor.kill_at("after return", 1)
    assert stored is not None
    assert f"returned p0 {hashlib.sha256(stored).hexdigest()}" in auditor.log.read_text()
    assert Ledger(auditor.books).result("p0") == stored


@pytest.mark.parametrize("step", ["store BEGIN", "store COMMIT"])
def test_the_audit_catches_a_desk_that_returns_before_it_stores(tmp_path: Path, books: Path | str, step: str) -> None:
    auditor = Auditor(tmp_path, books)
    auditor.kill_at(step, 1, hasty=True)
    with pytest.raises(AssertionError, match="not stored"):
        auditor.audit()


def test_the_audit_catches_a_lost_row(tmp_path: Path, books: Path | str) -> None:
    auditor = Auditor(tmp_path, books)
    auditor.kill_at("after return", 2)
    auditor.audit()
    with Ledger(auditor.books).database.write() as connection:
        connection.execute("DROP TRIGGER plan_is_kept")
        connection.execute("DELETE FROM plan WHERE id = 'p1'")
    with pytest.raises(AssertionError):
        auditor.audit()
