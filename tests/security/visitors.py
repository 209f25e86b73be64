"""A dashboard on loopback, and visitors that speak Streamlit's own protocol: many of them, without a browser."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 300.0
"""Seconds to wait for anything on a busy machine; nothing here measures time."""


@dataclass
class Server:
    home: Path
    port: int
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def memory(self) -> int:
        """Resident bytes."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS"))


@contextmanager
def serving(home: Path, *options: str, **environment: str) -> Iterator[Server]:
    """README's server on a free port, with a workspace of its own."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "dashboard/app.py", "--server.address", "127.0.0.1"]
    command += ["--server.port", str(port), "--server.headless", "true", "--server.fileWatcherType", "none", *options]
    log = home.with_suffix(".log")
    with log.open("ab") as output:
        own = os.environ | {"RELEASE_DESK_HOME": str(home)} | environment
        process = subprocess.Popen(command, cwd=ROOT, env=own, stdout=output, stderr=subprocess.STDOUT)
    try:
        _wait_until_up(port, process)
        yield Server(home, port, process, log)
    finally:
        process.kill()
        process.wait()


def _wait_until_up(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        assert process.poll() is None, "the server ended"
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    raise AssertionError("the server does not answer")


@dataclass
class Visit:
    """What one visitor's browser was sent."""

    pages: set[str] = field(default_factory=set)
    """Titles of the pages that exist for this visitor."""
    titles: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    statistics: bool = True
    """Whether the browser was told to send usage statistics to somebody."""
    text: str = ""
    finished: bool = False


async def visit(
    server: Server, page: str = "", *, host: str = "127.0.0.1", headers: dict[str, str] | None = None
) -> Visit:
    """Open a page as a new tab would, and wait until it stands."""
    seen = Visit()
    uri = f"ws://{host}:{server.port}/_stcore/stream"
    async with asyncio.timeout(PATIENCE), connect(
        uri, host="127.0.0.1", port=server.port, subprotocols=[Subprotocol("streamlit")], additional_headers=headers,
        proxy=None, max_size=None, open_timeout=PATIENCE, ping_interval=None,
    ) as socket:  # fmt: skip
        wish = BackMsg()
        wish.rerun_script.page_name = page
        wish.rerun_script.query_string = ""
        await socket.send(wish.SerializeToString())
        async for message in socket:
            assert isinstance(message, bytes)
            _read(ForwardMsg.FromString(message), seen)
            if seen.finished:
                return seen
    return seen


def _read(message: ForwardMsg, seen: Visit) -> None:
    kind = message.WhichOneof("type")
    if kind == "new_session":
        seen.statistics = message.new_session.config.gather_usage_stats
    elif kind == "navigation":
        seen.pages = {page.page_name for page in message.navigation.app_pages}
    elif kind == "delta":
        element = message.delta.new_element
        sort = element.WhichOneof("type")
        seen.text += str(element)
        if sort == "heading" and element.heading.tag == "h1":
            seen.titles.append(element.heading.body)
        if sort == "exception" or (sort == "alert" and element.alert.format == element.alert.ERROR):
            seen.errors.append(str(element))
    elif kind == "script_finished":
        seen.finished = message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY


async def crowd(server: Server, size: int, page: str) -> list[Visit]:
    """So many visitors at the same moment."""
    stranger = {"X-Forwarded-For": "203.0.113.9"}
    return list(await asyncio.gather(*(visit(server, page, headers=stranger) for _ in range(size))))
