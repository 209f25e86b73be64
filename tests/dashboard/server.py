"""A dashboard of one's own, served by the command that README tells people to use, from a folder elsewhere."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
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


STRANGER = "desk.test"
"""A name that leads to this machine from elsewhere, as a proxy's does: its visitors are not at this desk."""


@dataclass
class Server:
    """A dashboard of its own on a free port of this machine, with its own workspace."""

    home: Path
    port: int
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def key(self) -> str:
        """What the link holds that the command has printed."""
        found = re.findall(r"\?token=([\w-]{43})\n", self.log.read_text(errors="replace"))
        assert len(found) == 1, "the key is printed once"
        return found[0]

    @property
    def cookie(self) -> dict[str, str]:
        """What the browser of somebody who followed the link sends."""
        return {"Cookie": f"release-desk-{self.port}={self.key}"}

    def link(self, path: str = "", query: str = "") -> str:
        """The way in for a curator, to any page."""
        return f"{self.address}/{path}?token={self.key}{query.replace('?', '&', 1)}"

    def entries(self) -> list[Entry]:
        return Ledger(self.home / "ledger.sqlite").entries()

    def memory(self) -> int:
        """Resident bytes."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS"))


@contextmanager
def serving(home: Path, *words: str, host: str = "127.0.0.1", **environment: str) -> Iterator[Server]:
    """What `release-desk` serves; strangers reach it under another name."""
    port = free_port()
    command = [sys.executable, "-m", "dashboard", "--port", str(port), "--host", STRANGER, *words]
    with _running(command, home, port, host, environment) as server:
        yield server
    assert "Traceback" not in server.log.read_text(errors="replace")


@contextmanager
def plain_streamlit(home: Path, *options: str, **environment: str) -> Iterator[Server]:
    """The same pages without the command, as a hosted demo starts them."""
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", str(ROOT / "dashboard" / "app.py")]
    command += ["--server.address", "127.0.0.1", "--server.port", str(port), "--server.headless", "true"]
    command += ["--server.fileWatcherType", "none", *options]
    with _running(command, home, port, "127.0.0.1", environment) as server:
        yield server


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


@contextmanager
def _running(command: Sequence[str], home: Path, port: int, host: str, environment: dict[str, str]) -> Iterator[Server]:
    log = home.with_name(f"{home.name}-{port}.log")
    own = os.environ | {"RELEASE_DESK_HOME": str(home), "PYTHONPATH": str(ROOT)} | environment
    with log.open("ab") as output:
        process = subprocess.Popen(command, cwd=home.parent, env=own, stdout=output, stderr=subprocess.STDOUT)
    try:
        _wait_until_up(host, port, process)
        yield Server(home, port, process, log)
    finally:
        process.kill()
        process.wait()


def _wait_until_up(host: str, port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE / 1000
    while time.monotonic() < deadline:
        assert process.poll() is None, "the server ended"
        try:
            with urllib.request.urlopen(f"http://{host}:{port}/_stcore/health", timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    raise AssertionError("the server does not answer")
