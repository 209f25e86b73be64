"""Where rows live in a PostgreSQL database, in words: nothing is opened by saying it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from core.base.errors import BadParameter

LONGEST_NAME = 63
"""Bytes of a name. The server cuts longer ones off, and would read another table than the one that was named."""
_ADDRESS = re.compile(r"postgres(ql)?://\S+")


@dataclass(frozen=True, kw_only=True)
class PostgresSource:
    """A table of a PostgreSQL database. Names are names, never SQL: whatever signs they have, they are quoted."""

    address: str = field(repr=False)
    """Like postgresql://reader@host/database; a password is better kept in a password file. Never shown."""
    table: str
    schema: str = "public"
    """The schema of the database that the table is in."""

    def __post_init__(self) -> None:
        if not isinstance(self.address, str) or not _ADDRESS.fullmatch(self.address):
            raise BadParameter("address", "must be like postgresql://reader@host/database.")
        for part, name in (("schema", self.schema), ("table", self.table)):
            if not isinstance(name, str) or not name.strip():
                raise BadParameter(part, "is empty; name a table as the database does, such as public and people.")
            if "\0" in name or len(name.encode("utf-8", "surrogatepass")) > LONGEST_NAME or not _is_unicode(name):
                raise BadParameter(part, f"is no name of PostgreSQL, which has at most {LONGEST_NAME} bytes.")


def _is_unicode(name: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in name)
