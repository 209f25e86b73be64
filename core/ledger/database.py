"""What the ledger and the sessions need of a database, whichever it is.

Statements are written once, as SQLite reads them: `?` for a value, a row by the names of its columns. A file of the
workspace (`durable_file.py`) runs them as they are; a PostgreSQL server that several machines share (`postgres/`)
translates the little that differs. What must hold whoever writes is a `Guard`, which each database writes in its own
words. Nothing here knows what the tables are about.

**Durability** Both give the same promise: what `write` has left without an error is on disk, so a spend that is
committed before a run is there after any crash; and a transaction that was cut off never happened.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol


@dataclass(frozen=True, kw_only=True)
class Guard:
    """A rule that the tables themselves keep: what it forbids is refused whoever asks for it, and by which program."""

    name: str
    before: Literal["INSERT", "UPDATE", "DELETE"]
    table: str
    refusal: str
    when: str = ""
    """What of it is forbidden, in terms of the rows OLD and NEW; everything where this is empty."""


TableStatement = str | Guard


@dataclass(frozen=True, kw_only=True)
class Layout:
    """What a database holds."""

    noun: str
    """How sentences call it."""
    mark: int
    """Says that it is one of ours, and which."""
    version: int
    tables: tuple[TableStatement, ...]
    """What fills an empty one of this version."""
    steps: Mapping[int, tuple[TableStatement, ...]] = field(default_factory=dict)
    """For each older version the statements that make the next one of it."""
    busy: bool = False
    """Whether many short calls follow one another."""


class Fetched(Protocol):
    """What a statement gave: rows by the names of their columns, which `dict` makes a mapping of."""

    @property
    def rowcount(self) -> int: ...
    def fetchone(self) -> Any: ...
    def fetchall(self) -> list[Any]: ...
    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """Where statements go; each is a transaction of its own unless one was begun."""

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> Fetched: ...
    def close(self) -> None: ...


class Database(Protocol):
    """Tables of one layout, for many threads and processes at once."""

    @property
    def where(self) -> str:
        """How a page names it; never with a password."""

    def connect(self) -> Connection:
        """A new connection, which whoever asks for it closes."""

    def read(self) -> AbstractContextManager[Connection]:
        """A connection on which each statement sees one committed state, and is committed by itself."""

    def snapshot(self) -> AbstractContextManager[Connection]:
        """A connection on which all statements see the same committed state."""

    def write(self) -> AbstractContextManager[Connection]:
        """One transaction that no other writer overlaps: committed and synced at its end, undone by any exception."""

    def check_room(self, connection: Connection, size: int) -> None:
        """Refuse to begin what may have to write so many bytes, where they would not fit."""

    def close(self) -> None:
        """Let go of whatever stays open between calls."""
