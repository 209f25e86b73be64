"""A table that is being described, kept apart from its widgets because those forget when the page changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from core.base.errors import BadFile, Refused
from core.table.files import DecimalSign, Encoding, TextFile
from core.table.formats.databases.database_source import DatabaseSource
from core.table.formats.renamed import Renamed
from core.table.spark.spark_source import SparkSource
from core.table.table import TableSource
from dashboard.views.data import server_path, upload
from dashboard.views.data.servers import database_form

DEMO = "demo"


@dataclass
class Draft:
    """What was chosen so far, and the schema as far as it has come."""

    way: str = ""
    """How the table is being chosen: the demo table, an upload, a path."""
    origin: str = ""
    """What was chosen: 'demo' and the name of one, an upload's id, 'path' and the path, or names that say where a
    table is that is in no file."""
    name: str = ""
    file: Any = None
    """The uploaded file in memory; otherwise there is a path."""
    path: Path | None = None
    """The demo table or a file on the server; never that of an upload."""
    spark: SparkSource | None = None
    """A table that stays on a cluster; then there is neither a file nor a path."""
    database: DatabaseSource | None = None
    """A table in a database; then there is neither a file nor a path."""
    database_name: str = ""
    """What its database is called on the page; its address may hold a password, and is kept nowhere."""
    id: str = ""
    """Under which it is kept for later; empty where it is not."""
    copy: Path | None = None
    """The copy of an upload that is kept with it."""
    written_down: str = ""
    """What was kept last."""
    written: tuple[Encoding, DecimalSign] = ("utf-8", ".")
    """How a text file is written, as the curator says."""
    tables: tuple[str, ...] = ()
    """The tables of a DuckDB file."""
    table: str | None = None
    """The one of them that was chosen."""
    columns: tuple[tuple[str, str], ...] = ()
    """Names and storage types, from the header only."""
    names: dict[str, str] = field(default_factory=dict)
    """What the curator calls columns that have no name of their own, by what the file calls them."""
    base: pd.DataFrame = field(default_factory=pd.DataFrame)
    """What the grid started from: an editor must not be fed its own output."""
    latest: pd.DataFrame = field(default_factory=pd.DataFrame)
    version: int = 0
    rules: str = ""
    """Rules that every record obeys, one to a line."""
    counts_problem: str | None = None
    """What was wrong with a table of known counts that was to become rules."""
    rules_version: int = 0
    """Counts the times that a schema filled the rules: their field must then begin anew."""
    problem: str | None = None
    """What was wrong with the file."""
    schema_problem: str | None = None
    """What was wrong with a schema, code book or sample that was to fill the grid."""
    told: str | None = None
    """What filled the grid last, and what it left open."""
    filler: str = ""
    """Which way of filling the grid that was, or failed."""
    opened: str = ""
    """The digest of the schema with which its table was opened last, and fits; empty before."""
    wanted: list[str] | None = None
    """The columns whose bounds are to be bought, once the curator has chosen some."""
    starts: dict[str, list[str]] = field(default_factory=dict)
    """What the fields of that choice started with."""

    @property
    def identity(self) -> str:
        """What the widgets that are about this very table are kept under."""
        return self.origin if self.table is None else f"{self.origin} {self.table}"

    @property
    def key(self) -> str:
        return f"schema-{self.version}"

    def restart(self, frame: pd.DataFrame, told: str | None = None, rules: Iterable[str] | None = None) -> None:
        """Begin again with this grid, and with these rules if a schema brought any; else they stay."""
        if rules is not None:
            self.take_rules(rules)
        self.base = self.latest = frame
        self.version += 1
        self.told, self.schema_problem = told, None

    def take_rules(self, rules: Iterable[str]) -> None:
        """These rules in place of those that were typed."""
        self.rules, self.rules_version = "\n".join(rules), self.rules_version + 1

    def forget(self) -> None:
        """Nothing is chosen any more."""
        vars(self).update(vars(Draft(way=self.way, version=self.version, rules_version=self.rules_version + 1)))

    def _source(self, path: Path) -> TableSource:
        if self.table is not None:
            return path, self.table
        usual = self.written == Draft.written or path.suffix.lower() not in upload.TEXTS
        return path if usual else TextFile(path, *self.written)

    @contextmanager
    def source(self, workspace: Path) -> Iterator[TableSource]:
        """What was chosen, readable for as long as it is needed, with the names that the curator gave."""
        if self.spark is not None:
            raise Refused("This needs the rows at the desk, and they stay on the cluster; use another way.")
        with self.unnamed_source(workspace) as source:
            yield Renamed(source, tuple(self.names.items())) if self.names else source

    @contextmanager
    def unnamed_source(self, workspace: Path) -> Iterator[TableSource]:
        """The same with its own names."""
        if self.copy is not None and self.copy.exists():
            yield self._source(self.copy)
        elif self.file is not None:
            with upload.on_disk(self.file, workspace) as path:
                yield self._source(path)
        elif self.path is not None:
            # Asked again: since the choice the file may have become a link to somewhere else.
            demo = self.origin.partition(" ")[0] == DEMO
            path = self.path if demo else server_path.allowed(str(self.path))
            several = None if demo else server_path.several(path)
            yield self._source(path) if several is None else several
        elif self.database is not None:
            yield database_form.allowed(self.database)
        else:
            raise BadFile("The table is not there any more; choose it again.")
