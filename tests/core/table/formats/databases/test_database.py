"""Tables of databases, whichever server has them: what a source may say, and lines that become pieces of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pytest

from core.base.errors import BadFile, BadParameter, BadSchema
from core.schema.domain import Integers
from core.table.formats.databases import database_rows
from core.table.formats.databases.database_rows import DatabaseRows, HeldColumn
from core.table.formats.databases.database_source import DatabaseSource
from core.table.formats.databases.database_words import GONE
from tests.databases import NOBODY_KNOWS

POSTGRES = {"address": "postgresql://a@b/c", "table": "people"}
MYSQL = {"address": "mariadb://a@b/c", "table": "ä" * 64}


class Told:
    """A table of three rows, as a server tells it."""

    columns = (HeldColumn("age", "BIGINT", pa.int64()), HeldColumn("tags", "LIST", pa.string()))

    def __init__(self, lines: Sequence[bytes]) -> None:
        self._lines = lines

    def count(self) -> int:
        return len(self._lines)

    def lines(self, names: Sequence[str]) -> Iterator[bytes]:
        return iter(self._lines)


def test_a_source_knows_its_server_and_its_usual_schema() -> None:
    assert (DatabaseSource(**POSTGRES).server, DatabaseSource(**POSTGRES).schema) == ("PostgreSQL", "public")
    assert (DatabaseSource(**MYSQL).server, DatabaseSource(**MYSQL).schema) == ("MySQL", "")


@pytest.mark.parametrize(
    ("source", "wrong"),
    [
        (POSTGRES, {"address": "oracle://a@b/c"}),
        (POSTGRES, {"address": "postgresql://a b"}),
        (POSTGRES, {"table": " "}),
        (POSTGRES, {"schema": " "}),
        (POSTGRES, {"table": "a\0b"}),
        (POSTGRES, {"table": "ä" * 32}),
        (POSTGRES, {"schema": "\ud800"}),
        (MYSQL, {"table": ""}),
        (MYSQL, {"schema": "public"}),
        (MYSQL, {"table": "ä" * 65}),
    ],
)
def test_a_source_says_what_is_wrong_with_it(source: dict[str, str], wrong: dict[str, str]) -> None:
    with pytest.raises(BadParameter):
        DatabaseSource(**{**source, **wrong})


def test_a_source_does_not_show_its_address() -> None:
    assert NOBODY_KNOWS not in repr(DatabaseSource(address=f"postgresql://a:{NOBODY_KNOWS}@b/c", table="people"))


@pytest.mark.parametrize(("limit", "counts"), [("PIECE", [2, 1]), ("PIECE_BYTES", [1, 2])])
def test_lines_become_pieces_of_so_many_rows_or_bytes(
    limit: str, counts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_rows, limit, 2)
    rows = DatabaseRows(Told([b"7\n", b"\n", b"30\n"]))
    assert rows.take(["age"]) == 3
    pieces = list(rows.pieces([Integers(name="age", low=0, high=9, missing=True)]))
    assert [piece.count for piece in pieces] == counts


def test_lists_are_no_cells_and_lost_lines_are_noticed() -> None:
    with pytest.raises(BadSchema, match="lists"):
        DatabaseRows(Told([])).take(["tags"])
    with pytest.raises(BadFile) as caught:
        list(DatabaseRows(Told([b"1\n2\n"])).pieces(["age"]))
    assert str(caught.value) == GONE
