from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from core.base.errors import DeskError, Refused, Unknown
from core.ledger.durable_file import ROOM
from core.mechanisms.kit.interactive import Reply
from core.sessions.kept.file import SessionFile
from core.sessions.kept.rows import StoredState
from tests.core.sessions.kept.stored import QUESTIONS, close, record, stored


def test_replies_and_states_move_together(file: SessionFile) -> None:
    first = record(file, 0)
    assert (first.number, first.spent, file.row("s").version, file.row("s").state_version) == (1, 0, 1, 0)
    second = record(file, 1, kind="hard", state=b"second", left=6)
    assert (second.number, second.spent, file.row("s").version, file.row("s").state_version) == (2, 1, 2, 2)
    third = record(file, 2, kind="unchecked", margin=None, left=None)
    assert (third.spent, third.margin, third.left, file.row("s").state_version) == (1, None, None, 2)
    assert stored(file) == b"second"
    assert file.size("s") == 6
    assert file.replies("s") == [first, second, third]
    assert file.last("s") == third
    assert file.tally("s") == {"easy": 1, "hard": 1, "unchecked": 1}
    assert file.asked_before("s", QUESTIONS[1].key) == second
    assert file.asked_before("s", QUESTIONS[3].key) is None
    with file.turn("s") as turn:
        assert turn.reply(QUESTIONS[0].key) == first


def test_a_turn_that_fails_leaves_nothing(file: SessionFile) -> None:
    reply = Reply(count=1.0, share=0.1, margin=None, kind="hard", left=1)
    with pytest.raises(KeyboardInterrupt), file.turn("s") as turn:
        turn.record(question=QUESTIONS[0], at="now", reply=reply, rows=None, state=StoredState(b"second", "less"))
        raise KeyboardInterrupt
    assert (file.row("s").version, stored(file), file.replies("s")) == (0, b"first", [])
    with pytest.raises(DeskError):
        record(file, 0, share=float("nan"))
    with pytest.raises(DeskError):
        record(file, 0, left=-1)
    assert file.row("s").version == 0
    record(file, 0)
    with pytest.raises(DeskError):
        record(file, 0)
    assert file.row("s").version == 1


def test_a_turn_lets_nobody_else_write(file: SessionFile, path: Path) -> None:
    hasty = SessionFile(path, patience=0.01)
    with file.turn("s"):
        with pytest.raises(DeskError, match="using the session file; nothing was changed"), hasty.turn("s"):
            pass
        assert hasty.row("s").version == 0, "reading goes on beside a turn"
    with hasty.turn("s") as turn:
        assert turn.row.version == 0


def test_a_turn_begins_only_where_there_is_room(file: SessionFile, monkeypatch: pytest.MonkeyPatch) -> None:
    class Disk(NamedTuple):
        free: int

    needed = ROOM + 4 * len(b"first")
    monkeypatch.setattr("core.ledger.durable_file.shutil.disk_usage", lambda _: Disk(needed - 1))
    with pytest.raises(DeskError, match="nearly full; nothing was asked"), file.turn("s"):
        raise AssertionError("a draw that may not be kept")
    monkeypatch.setattr("core.ledger.durable_file.shutil.disk_usage", lambda _: Disk(needed))
    assert record(file, 0).number == 1


def test_a_closed_session_takes_no_turn(file: SessionFile) -> None:
    record(file, 0)
    close(file, "s")
    closed = file.row("s")
    with file.closing("s") as turn:
        assert turn is None, "it has no more turns"
    assert file.row("s") == closed
    with pytest.raises(Refused, match="closed"):
        record(file, 1)
    with pytest.raises(Refused, match="closed"):
        file.asked_before("s", QUESTIONS[0].key)
    with pytest.raises(Unknown):
        close(file, "t")
    assert len(file.replies("s")) == 1


def test_what_is_left_moves_with_the_state(file: SessionFile) -> None:
    def left() -> str | None:
        with file.snapshot("s") as turn:
            return turn.state().allowance

    assert left() == "all"
    record(file, 0)
    assert left() == "all"
    record(file, 1, kind="hard", state=b"second", allowance="some")
    assert left() == "some"
    with pytest.raises(KeyboardInterrupt), file.turn("s") as turn:
        reply = Reply(count=1.0, share=0.1, margin=None, kind="hard", left=1)
        kept = StoredState(b"third", "none")
        turn.record(question=QUESTIONS[2], at="now", reply=reply, rows=None, state=kept)
        raise KeyboardInterrupt
    assert (left(), stored(file)) == ("some", b"second")
