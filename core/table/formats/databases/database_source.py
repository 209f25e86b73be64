"""Where rows live in a database, in words: nothing is opened by saying it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from core.base.errors import BadParameter

Server = Literal["PostgreSQL", "MySQL"]
"""MariaDB is read as MySQL is."""
POSTGRES: Server = "PostgreSQL"
MYSQL: Server = "MySQL"
LONGEST_NAME: dict[Server, int] = {POSTGRES: 63, MYSQL: 64}
"""Of a name: bytes in PostgreSQL, which cuts longer ones off and would read another table than the one that was named,
and letters in MySQL."""
USUAL_SCHEMA = "public"
_ADDRESS = re.compile(r"(postgres(?:ql)?|mysql|mariadb)://\S+")


@dataclass(frozen=True, kw_only=True)
class DatabaseSource:
    """A table of a database. Names are names, never SQL: whatever signs they have, they are quoted."""

    address: str = field(repr=False)
    """Like postgresql://reader@host/database, mysql://... or mariadb://...; a password is better kept in a password
    file. Never shown."""
    table: str
    schema: str = ""
    """The schema of a PostgreSQL database that the table is in, 'public' where it is empty; MySQL has none."""

    def __post_init__(self) -> None:
        if not isinstance(self.address, str) or not _ADDRESS.fullmatch(self.address):
            raise BadParameter("address", "must be like postgresql://reader@host/database or mysql://...")
        if self.server == POSTGRES and self.schema == "":
            object.__setattr__(self, "schema", USUAL_SCHEMA)
        if self.server == MYSQL and self.schema != "":
            raise BadParameter("schema", "is empty with MySQL, whose address names the database.")
        self._check("table", self.table)
        if self.server == POSTGRES:
            self._check("schema", self.schema)

    @property
    def server(self) -> Server:
        """Which kind of server the address leads to."""
        return POSTGRES if self.address.startswith("postgres") else MYSQL

    def _check(self, part: str, name: object) -> None:
        if not isinstance(name, str) or not name.strip():
            raise BadParameter(part, "is empty; name a table as the database does, such as people.")
        postgres, longest = self.server == POSTGRES, LONGEST_NAME[self.server]
        size = len(name.encode("utf-8", "surrogatepass")) if postgres else len(name)
        if "\0" in name or size > longest or not _is_unicode(name):
            unit = "bytes" if postgres else "letters"
            raise BadParameter(part, f"is no name of {self.server}, which has at most {longest} {unit}.")


def _is_unicode(name: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in name)
