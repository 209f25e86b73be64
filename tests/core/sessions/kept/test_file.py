from __future__ import annotations

import sqlite3
import stat
from pathlib import Path

import pytest

from core.base.errors import DeskError
from core.sessions.kept.file import SessionFile
from tests.core.sessions.kept.stored import add, close, raw, record


def test_the_file_is_private_and_synced(file: SessionFile, path: Path) -> None:
    record(file, 0)
    for name in path.parent.iterdir():
        assert stat.S_IMODE(name.stat().st_mode) == 0o600
    with file.database.read() as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        assert connection.execute("PRAGMA synchronous").fetchone()[0] == 2


def test_what_was_left_at_the_end_is_kept_and_fixed(file: SessionFile) -> None:
    record(file, 0, state=b"second", allowance="some")
    assert file.left_at_end("s") is None
    with raw(file) as connection, pytest.raises(sqlite3.IntegrityError, match="only a closed session"):
        connection.execute("INSERT INTO ending VALUES ('s', 'closed', 'all')")
    close(file, "s")
    assert file.left_at_end("s") == "some"
    assert file.row("s").reason == "closed"
    with raw(file) as connection:
        for change in ("UPDATE ending SET allowance = 'all'", "DELETE FROM ending"):
            with pytest.raises(sqlite3.IntegrityError, match="ending"):
                connection.execute(change)


def test_a_deleted_file_does_not_come_back_empty(file: SessionFile, path: Path) -> None:
    path.unlink()
    with pytest.raises(DeskError, match="cannot be opened"):
        add(file, "t")
    assert not path.exists()
