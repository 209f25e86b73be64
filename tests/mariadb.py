"""A MariaDB server that the tests start, in a folder of its own."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from tests.databases import NOBODY_KNOWS

SMALL = (
    "--skip-networking", "--skip-log-bin", "--innodb-buffer-pool-size=24M", "--innodb-log-file-size=4M",
    "--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0", "--skip-name-resolve", "--performance-schema=0",
)  # fmt: skip
PATIENCE = 60
"""Seconds to wait for the server on a busy machine."""


class StartedMariaDb:
    """A server that listens on a socket in its folder and nowhere else."""

    def __init__(self) -> None:
        program = shutil.which("mariadbd") or shutil.which("mariadbd", path="/usr/sbin")
        if program is None:
            pytest.skip("no MariaDB server is installed; on Debian: apt install mariadb-server")
        self.folder = Path(tempfile.mkdtemp(prefix="my-", dir="/tmp"))  # the path of a socket must be short
        self._socket = self.folder / "s"
        # A server refuses to run as root: there it runs as the user whom its package made.
        user = pwd.getpwnam("mysql") if os.geteuid() == 0 else None
        self._who: dict[str, Any] = (
            {} if user is None else {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        )
        if user is not None:
            os.chown(self.folder, user.pw_uid, user.pw_gid)
        data = f"--datadir={self.folder / 'data'}"
        self._run(
            "mariadb-install-db", "--no-defaults", data, "--auth-root-authentication-method=normal", "--skip-test-db"
        )
        command = [program, "--no-defaults", data, f"--socket={self._socket}", f"--tmpdir={self.folder}", *SMALL]
        with (self.folder / "log").open("wb") as log:
            self._process = subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log, **self._who)
        self._wait()
        self.sql("mysql", "CREATE DATABASE desk", f"CREATE USER stranger IDENTIFIED BY '{NOBODY_KNOWS}'")

    def address(self, name: str = "desk", user: str = "root") -> str:
        return f"mysql://{user}@localhost/{name}?unix_socket={self._socket}"

    def new(self) -> str:
        """The address of an empty database."""
        self.sql("mysql", "DROP DATABASE desk", "CREATE DATABASE desk CHARACTER SET utf8mb4")
        return self.address()

    def connect(self, name: str = "desk") -> Any:
        import pymysql

        return pymysql.connect(user="root", unix_socket=str(self._socket), database=name, autocommit=True)

    def sql(self, name: str, *statements: str) -> list[Any]:
        with self.connect(name) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            return list(cursor.fetchall())

    def cut(self) -> None:
        """Cut every connection to the database of the tests."""
        for (number,) in self.sql("mysql", "SELECT id FROM information_schema.processlist WHERE db = 'desk'"):
            self.sql("mysql", f"KILL {number}")

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _wait(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while not self._socket.exists():
            assert self._process.poll() is None and time.monotonic() < deadline, "the server does not start"
            time.sleep(0.05)

    def _run(self, program: str, *arguments: str) -> None:
        command = [shutil.which(program) or f"/usr/bin/{program}", *arguments]
        subprocess.run(command, check=True, cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, **self._who)
