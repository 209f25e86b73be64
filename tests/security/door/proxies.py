"""Programs that stand between strangers and a dashboard: nginx, and a forwarder that runs as another user."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from tests.dashboard.server import free_port

NOBODY = 65534
SECONDS = 60
NGINX = """
daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{}}
http {{
    access_log {folder}/access.log;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_pass http://127.0.0.1:{behind};
            proxy_http_version 1.1;
            proxy_set_header Upgrade $http_upgrade;
            proxy_set_header Connection upgrade;
            {headers}
        }}
    }}
}}
"""
FORWARDER = """
import asyncio, os, sys

# Only now: the interpreter and its library may lie where other users cannot look.
if len(sys.argv) > 3:
    os.setgid(int(sys.argv[3]))
    os.setuid(int(sys.argv[3]))

async def copy(source, target):
    while data := await source.read(65536):
        target.write(data)
        await target.drain()
    target.close()

async def serve(reader, writer):
    there = await asyncio.open_connection("127.0.0.1", int(sys.argv[2]))
    await asyncio.gather(copy(reader, there[1]), copy(there[0], writer), return_exceptions=True)

async def main():
    async with await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1])) as server:
        await server.serve_forever()

asyncio.run(main())
"""


@contextmanager
def nginx(folder: Path, behind: int, *headers: str) -> Iterator[int]:
    """A proxy on a port of its own that sets these headers and no other."""
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if program is None:
        pytest.skip("no nginx on PATH; on Debian: apt install nginx")
    folder.mkdir()
    port = free_port()
    lines = "\n".join(f"proxy_set_header {header};" for header in headers)
    text = NGINX.format(folder=folder, port=port, behind=behind, headers=lines)
    (folder / "nginx.conf").write_text(text)
    command = [program, "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log")]
    with _running(command, port):
        yield port


@contextmanager
def forwarder(behind: int, user: int | None) -> Iterator[int]:
    """Passes bytes on and adds nothing, as `ssh -L` or `socat` do; run by whom, if we may say so."""
    port = free_port()
    command = [sys.executable, "-I", "-c", FORWARDER, str(port), str(behind)]
    with _running(command if user is None else [*command, str(user)], port):
        yield port


@contextmanager
def _running(command: list[str], port: int) -> Iterator[None]:
    process = subprocess.Popen(command)
    try:
        deadline = time.monotonic() + SECONDS
        while not _answers(port):
            assert process.poll() is None, "the proxy ended"
            assert time.monotonic() < deadline, "the proxy does not answer"
            time.sleep(0.1)
        yield
    finally:
        process.kill()
        process.wait()


def _answers(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=5):
            return True
    except HTTPError:
        return True
    except OSError:
        return False
