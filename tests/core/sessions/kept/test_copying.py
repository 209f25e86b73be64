"""Sessions that are entered in another database are the same, replies, states and endings included."""

from __future__ import annotations

from pathlib import Path

from core.ledger.durable_file import KeptFile
from core.sessions.kept.copying import copy_sessions
from core.sessions.kept.file import SessionFile
from tests.core.sessions.kept.stored import add, close, record, stored


def test_sessions_go_on_elsewhere(tmp_path: Path) -> None:
    file, copy = SessionFile(tmp_path / "one.sqlite"), SessionFile(tmp_path / "other.sqlite")
    for name in ("s", "c", "new"):
        add(file, name)
    record(file, 0)
    record(file, 1, kind="hard", state=b"second")
    close(file, "c")
    assert isinstance(file.database, KeptFile)
    with copy.database.write() as connection:
        copy_sessions(file.database, connection)
    assert copy.rows() == file.rows()
    assert copy.replies("s") == file.replies("s") != []
    assert [copy.question("s", number) for number in (1, 2)] == [file.question("s", number) for number in (1, 2)]
    assert stored(copy) == b"second"
    assert copy.left_at_end("c") == file.left_at_end("c") is not None
    assert record(copy, 2).number == 3
