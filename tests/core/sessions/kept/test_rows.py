from __future__ import annotations

import pytest

from core.base.errors import DeskError, Unknown
from core.sessions.kept.file import SessionFile
from tests.core.sessions.kept.stored import add, close, raw, stored


@pytest.mark.parametrize("damage", ["data = X'00'", "allowance = 'more'"])
def test_a_damaged_state_is_never_used(file: SessionFile, damage: str) -> None:
    with raw(file) as connection:
        connection.execute("DROP TRIGGER state_goes_forward")
        connection.execute(f"UPDATE state SET {damage}")
    with pytest.raises(DeskError, match="damaged"):
        stored(file)


def test_a_damaged_state_says_nothing_of_what_was_left(file: SessionFile) -> None:
    with raw(file) as connection:
        connection.execute("DROP TRIGGER state_goes_forward")
        connection.execute("UPDATE state SET allowance = 'more'")
    close(file, "s")
    assert file.left_at_end("s") is None


def test_the_first_opening_wins(file: SessionFile) -> None:
    add(file, state=b"second")
    assert stored(file) == b"first"
    assert file.row("s").version == 0
    assert file.find("t") is None
    with pytest.raises(Unknown, match="'t'"):
        file.row("t")


def test_sessions_are_listed_by_table_newest_first(file: SessionFile) -> None:
    add(file, "t", dataset="other")
    add(file, "u")
    assert [row.id for row in file.rows()] == ["u", "t", "s"]
    assert [row.id for row in file.rows("people")] == ["u", "s"]
