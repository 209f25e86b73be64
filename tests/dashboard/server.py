"""A dashboard of one's own, served as README's command serves it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from core.ledger.ledger import Entry, Ledger

ROOT = Path(__file__).resolve().parents[2]
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
PATIENCE = 120_000
"""Milliseconds to wait for anything on a busy machine; nothing here measures time."""


@dataclass
class Server:
    """A dashboard of its own on a free port of this machine, with its own workspace."""

    home: Path
    port: int
    process: subprocess.Popen[bytes]

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def entries(self) -> list[Entry]:
        return Ledger(self.home / "ledger.sqlite").entries()


@contextmanager
def serving(home: Path) -> Iterator[Server]:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "dashboard/app.py", "--server.address", "127.0.0.1"]
    command += ["--server.port", str(port), "--server.headless", "true", "--server.fileWatcherType", "none"]
    log = home.with_suffix(".log")
    with log.open("ab") as output:
        environment = os.environ | {"RELEASE_DESK_HOME": str(home)}
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT)
    try:
        _wait_until_up(port, process)
        yield Server(home, port, process)
    finally:
        process.kill()
        process.wait()
    assert "Traceback" not in log.read_text(errors="replace")


def _wait_until_up(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE / 1000
    while time.monotonic() < deadline:
        assert process.poll() is None, "the server ended"
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    raise AssertionError("the server does not answer")
