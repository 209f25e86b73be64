"""Releases in a process of their own: the same ledger, the same results, and nothing is lost with it."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from core import Budget, Desk, Marginals, Unit
from core.desk.books import LEDGER_FILE
from core.desk.running.child_process import ROOT
from core.desk.running.worker import Worker, serve
from core.plans.plan import Plan
from core.schema.domain import Booleans, Domain, Integers

DOMAIN = Domain((Booleans(name="ill"), Integers(name="age", low=0, high=9)))
PEOPLE = pd.DataFrame({"ill": [row % 3 == 0 for row in range(300)], "age": [row % 10 for row in range(300)]})


def planned(desk: Desk, edition: int = 1) -> Plan:
    budget = Budget(epsilon=4, delta=1e-9)
    held = desk.add_table(PEOPLE, DOMAIN, unit=Unit.row(), budget=budget)
    part = Budget(epsilon=1, delta=1e-9)
    return desk.plan(held, [Marginals(order=1)], mechanism="gaussian", budget=part, edition=edition)


def waited(desk: Desk, plan_id: str) -> str:
    deadline = time.monotonic() + 120
    while desk.progress(plan_id).state == "running" and time.monotonic() < deadline:
        time.sleep(0.05)
    return desk.progress(plan_id).state


def test_it_finishes_what_was_paid_for_and_tells_how_far_it_is(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "desk", journal=tmp_path / "notes")
    paid = desk._parts.payments.reserve(planned(desk))
    told = io.BytesIO()
    serve(desk, [paid, "nobody-paid-for-this"], told)
    lines = [json.loads(line) for line in told.getvalue().splitlines()]
    assert lines[-2:] == [None, None]
    shares = [share for _, share in lines[:-2]]
    assert len(shares) > 1 and shares == sorted(shares)
    assert desk.result(paid) is not None
    desk.close()


@pytest.mark.slow
def test_a_desk_that_got_ready_has_its_process_before_the_first_plan(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "desk", journal=tmp_path / "notes", worker=True)
    worker = desk._parts.worker
    assert worker is not None and worker._process is None
    desk.get_ready()
    started = worker._process
    desk.get_ready()
    assert started is not None and worker._process is started
    assert waited(desk, desk.submit(planned(desk))) == "done"
    assert worker._process is started
    desk.close()
    alone = Desk(tmp_path / "other", journal=tmp_path / "notes")
    alone.get_ready()
    alone.close()


@pytest.mark.slow
def test_nothing_is_said_where_a_server_has_its_log(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    desk = Desk(tmp_path / "desk", journal=tmp_path / "notes", worker=True)
    assert waited(desk, desk.submit(planned(desk))) == "done"
    desk.close()
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_a_release_runs_elsewhere_and_a_killed_worker_loses_nothing(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "desk", journal=tmp_path / "notes", worker=True)
    first = desk.submit(planned(desk))
    assert waited(desk, first) == "done"
    assert desk.result(first) is not None
    worker = desk._parts.worker
    assert worker is not None and worker._process is not None
    # Killed before the next plan comes, which another one finishes; what was paid for is paid for once.
    os.kill(worker._process.pid, signal.SIGKILL)
    worker._process.wait()
    second = desk.submit(planned(desk, edition=2))
    assert waited(desk, second) == "done"
    assert [entry.attempts for entry in desk.ledger.entries()] == [0, 0]
    desk.close()
    assert worker._process is None


@pytest.mark.slow
def test_a_worker_that_dies_at_work_leaves_a_plan_that_can_be_resumed(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "desk", journal=tmp_path / "notes")
    paid = desk._parts.payments.reserve(planned(desk))
    worker = Worker(desk.folder, tmp_path / "notes", desk.folder / LEDGER_FILE)
    worker._words = ["-c", "import os; input(); os.kill(os.getpid(), 9)"]
    worker.finish(paid, lambda stage, share: None)
    assert desk.progress(paid).state == "stopped"
    assert (
        Worker(desk.folder, tmp_path / "notes", desk.folder / LEDGER_FILE).finish(paid, lambda stage, share: None)
        is None
    )
    assert desk.progress(paid).state == "done"
    desk.close()


SERVER = """
import sys, time
from pathlib import Path
from core.desk.running.worker import Worker
folder, notes = map(Path, sys.argv[1:])
worker = Worker(folder, notes, folder / "ledger.sqlite")
print(worker._running().pid, flush=True)
time.sleep(600)
"""


@pytest.mark.slow
def test_it_ends_with_the_server_that_started_it(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SERVER, str(tmp_path / "desk"), str(tmp_path / "notes")]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert server.stdout is not None
    place = Path("/proc") / server.stdout.readline().strip()
    assert place.exists()
    with server:
        server.kill()
    deadline = time.monotonic() + 120
    while _runs(place) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not _runs(place)


def _runs(place: Path) -> bool:
    """Whether a process is there, and more than a record of its end that nobody has read."""
    try:
        return (place / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
