"""Both databases that a workspace may keep its books in: a file, and a PostgreSQL server that the tests start."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from core.ledger.postgres.shared_database import PostgresDatabase
from core.ledger.postgres.sql import SCHEMA

BOTH = ["file", pytest.param("server", marks=pytest.mark.slow)]
"""What a test is parametrised by that holds for both; the server takes a second to start."""
REUSED = 4
"""Databases; no test has more at a time."""
RUNNING = pytest.StashKey["StartedServer"]()
"""Where whoever runs the tests keeps a server that it has started for them."""
INSTALLED = "/usr/lib/postgresql/*/bin/postgres"
NOBODY_KNOWS = "not-to-be-seen"
"""The password of the user who needs one."""


def binaries() -> Path:
    """Where the server's programs are; Debian keeps them off the path."""
    found = shutil.which("postgres") or next(map(str, sorted(Path("/").glob(INSTALLED[1:]), reverse=True)), None)
    if found is None:
        pytest.skip("no PostgreSQL server is installed; on Debian: apt install postgresql")
    return Path(found).parent


class StartedServer:
    """A server in a folder of its own that listens on a socket there and nowhere else."""

    def __init__(self) -> None:
        self._programs = binaries()
        self.folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))  # the path of a socket must be short
        # A server refuses to run as root: there it runs as the user whom its package made.
        self._user = pwd.getpwnam("postgres") if os.geteuid() == 0 else None
        if self._user is not None:
            os.chown(self.folder, self._user.pw_uid, self._user.pw_gid)
        self.first_name = "desk"
        """How the names of its databases begin; processes that share a server need different ones."""
        self._made = 0
        self._run("initdb", "-D", self._data, "-U", "desk", "-A", "trust", "-E", "UTF8", "--locale=C")
        access = self.folder / "data" / "pg_hba.conf"
        access.write_text("local all stranger scram-sha-256\n" + access.read_text())
        self.start()
        self.sql("postgres", f"CREATE ROLE stranger LOGIN PASSWORD '{NOBODY_KNOWS}'")

    @property
    def _data(self) -> str:
        return str(self.folder / "data")

    def start(self) -> None:
        options = f"-c listen_addresses='' -c unix_socket_directories={self.folder} -c max_connections=120"
        self._run("pg_ctl", "-D", self._data, "-l", str(self.folder / "log"), "-w", "-o", options, "start")

    def crash(self) -> None:
        """As if the machine were switched off: nothing is finished and nothing is said."""
        self._run("pg_ctl", "-D", self._data, "-m", "immediate", "-w", "stop")

    def stop(self) -> None:
        self.crash()
        shutil.rmtree(self.folder, ignore_errors=True)

    def new(self) -> str:
        """The address of an empty database; those of earlier tests come again, because making one is slow."""
        name = f"{self.first_name}{self._made % REUSED}"
        if not self.sql("postgres", f"SELECT 1 FROM pg_database WHERE datname = '{name}'"):
            self.sql("postgres", f"CREATE DATABASE {name} OWNER desk")
        else:
            self.cut(self.address(name))
            self.sql("postgres", f"ALTER DATABASE {name} RESET ALL")
            self.sql(name, f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
        self._made += 1
        return self.address(name)

    def address(self, name: str, user: str = "desk") -> str:
        return f"postgresql://{user}@/{name}?host={self.folder}"

    def sql(self, name: str, statement: str) -> list[Any]:
        import psycopg

        with psycopg.connect(self.address(name), autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def cut(self, address: str) -> int:
        """Cut every connection to a database; says how many there were."""
        name = name_of(address)
        query = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
        return len(self.sql("postgres", query))

    def _run(self, program: str, *arguments: str) -> None:
        who = {} if self._user is None else {"user": self._user.pw_uid, "group": self._user.pw_gid, "extra_groups": []}
        subprocess.run(
            [self._programs / program, *arguments],
            check=True,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **who,  # type: ignore[call-overload]
        )


def name_of(address: str) -> str:
    return address.split("@/")[1].split("?")[0]


class Traced:
    """A connection that says every statement before it takes effect."""

    def __init__(self, inner: Any, reach: Callable[[str], None]) -> None:
        self._inner, self._reach = inner, reach

    def execute(self, statement: str, *values: Any) -> Any:
        self._reach(statement.split()[0])
        return self._inner.execute(statement, *values)

    def commit(self) -> None:
        self._reach("COMMIT")
        self._inner.commit()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


@contextmanager
def traced(database: Any, reach: Callable[[str], None]) -> Iterator[None]:
    """Whatever a database is told meanwhile is said first."""
    connect = database.connect
    let_go(database)
    database.connect = lambda: Traced(connect(), reach)
    try:
        yield
    finally:
        let_go(database)
        database.connect = connect


def let_go(database: Any) -> None:
    """Keep no connection of a server for later calls."""
    if isinstance(database, PostgresDatabase):
        database.close()
