"""Where rows live on a cluster, in words: nothing is opened by saying it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from core.base.errors import BadParameter

_ADDRESS = re.compile(r"local|local\[(\d+|\*)\]|spark://[^\s/]+|sc://[^\s]+|yarn|k8s://[^\s]+")
_TABLE = re.compile(r"(`[^`]+`|\w+)(\.(`[^`]+`|\w+)){0,3}")


@dataclass(frozen=True, kw_only=True)
class SparkSource:
    """A table on Spark: Parquet files by path or pattern, or a table of the cluster's catalogue."""

    address: str
    """Of the cluster: local[2], spark://host:7077, or sc://host:15002 for Spark Connect."""
    folder: str
    """A folder on the cluster for encoded columns, which the cluster's owner can read; rows are read once."""
    path: str | None = None
    """A Parquet file, a folder of them (and the folders in it), or a pattern that fits some."""
    table: str | None = None
    """The name of a table in the catalogue."""

    def __post_init__(self) -> None:
        if not isinstance(self.address, str) or not _ADDRESS.fullmatch(self.address):
            raise BadParameter("address", "must be like local[2], spark://host:7077 or sc://host:15002.")
        if not isinstance(self.folder, str) or not self.folder.strip():
            raise BadParameter("folder", "name the folder on the cluster where encoded columns are kept.")
        if (self.path is None) == (self.table is None):
            raise BadParameter("path", "give either a path of Parquet files or the name of a table.")
        if self.path is not None and not self.path.strip():
            raise BadParameter("path", "is empty; name Parquet files on the cluster.")
        if self.table is not None and not _TABLE.fullmatch(self.table):
            raise BadParameter("table", "must be a name such as people or office.people.")

    @property
    def name(self) -> str:
        """What the table is called unless its curator says otherwise."""
        if self.table is not None:
            return self.table.rpartition(".")[2].strip("`")
        return (self.path or "").rstrip("/").rpartition("/")[2].removesuffix(".parquet").strip("*.") or "table"

    def to_json(self) -> dict[str, Any]:
        return {"address": self.address, "folder": self.folder, "path": self.path, "table": self.table}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> SparkSource:
        return cls(address=data["address"], folder=data["folder"], path=data["path"], table=data["table"])
