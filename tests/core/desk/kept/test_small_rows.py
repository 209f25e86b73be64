"""Small rows of a database: the same as small files, whichever database it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from core import Desk
from core.base.errors import Unknown
from core.desk.kept.shared import SharedItems
from core.desk.kept.small_rows import LAYOUT, SmallRows
from core.ledger.places import open_database
from tests.databases import BOTH, StartedServer


@pytest.mark.parametrize("books", BOTH, indirect=True)
def test_what_is_written_is_read_listed_and_removed(books: Path | str) -> None:
    database = open_database(books, LAYOUT)
    rows, others = SmallRows(database, "shared"), SmallRows(database, "labels")
    assert (rows.read("a-1"), rows.all()) == (None, [])
    rows.write("a-1", {"name": "é"})
    rows.write("a-1", {"name": "later"})
    assert rows.read("a-1") == {"name": "later"} and rows.all() == [{"name": "later"}]
    assert others.all() == []
    rows.remove("a-1")
    rows.remove("a-1")
    assert rows.read("a-1") is None


def test_what_was_not_written_here_is_passed_over(books: Path | str) -> None:
    database = open_database(books, LAYOUT)
    with database.write() as connection:
        connection.execute("INSERT INTO item VALUES ('shared', 'b', '{')")
        connection.execute("INSERT INTO item VALUES ('shared', 'c', '[]')")
    rows = SmallRows(database, "shared")
    assert rows.read("b") is None and rows.all() == []


@pytest.mark.parametrize("identity", ["../a", "a/b", "", "A", "a.json", "x" * 65])
def test_an_identity_is_one_word(books: Path | str, identity: str) -> None:
    rows = SmallRows(open_database(books, LAYOUT), "shared")
    for call in (lambda: rows.write(identity, {}), lambda: rows.read(identity), lambda: rows.remove(identity)):
        with pytest.raises(Unknown):
            call()


@pytest.mark.slow
def test_desks_on_one_database_share_what_they_keep(tmp_path: Path, postgres: StartedServer) -> None:
    address = postgres.new()
    one, other = (Desk(tmp_path / "folder", ledger=address) for _ in range(2))
    one.shared_items.put("a1", kind="release", title="Visits")
    one.labels.rename("a1", "mine")
    token = one.machine_keys.make("a1", per_minute=3)
    assert [item.title for item in other.shared_items.items()] == ["Visits"]
    assert other.labels.of("a1").name == "mine"
    assert other.machine_keys.opened("a1", token) is not None
    assert not [path.name for path in (tmp_path / "folder").iterdir() if path.name in ("shared", "labels", "machines")]
    one.close()
    other.close()


def test_an_item_may_lie_in_either(books: Path | str) -> None:
    shelf = SharedItems(SmallRows(open_database(books, LAYOUT), "shared"))
    assert shelf.put("a1", kind="release", title="Visits") == shelf.find("a1")
