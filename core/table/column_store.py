"""Encoded columns on disk: a folder in the workspace that is complete or not there, readable by its owner only."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.base.errors import BadFile, DeskError
from core.schema.domain import Domain

EncodedColumns = Mapping[str, NDArray[Any]]

_DAMAGED = "The stored table is damaged or incomplete; add the table again."


def save(folder: Path, columns: EncodedColumns, facts: Mapping[str, Any]) -> None:
    """Write all columns and facts to a folder that appears complete or not at all, readable by its owner only."""
    folder = Path(folder)
    draft: Path | None = None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        if folder.exists():
            raise BadFile("A table is already stored at this place; it is never overwritten.")
        draft = Path(tempfile.mkdtemp(prefix=".draft-", dir=folder.parent))
        for place, column in enumerate(columns.values()):
            with _private(draft / f"{place}.npy") as file:
                np.save(file, np.ascontiguousarray(column), allow_pickle=False)
                _settle(file)
        with _private(draft / "table.json") as file:
            file.write(json.dumps({**facts, "names": list(columns)}).encode())
            _settle(file)
        draft.rename(folder)
    except OSError:
        raise BadFile("The encoded table cannot be stored; check the space and permissions of the workspace.") from None
    finally:
        if draft is not None and draft.exists():
            shutil.rmtree(draft, ignore_errors=True)


def load(folder: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Columns (mapped, not read into memory) and facts of a stored table."""
    try:
        facts = json.loads((Path(folder) / "table.json").read_text(encoding="utf-8"))
        columns = {
            name: np.load(Path(folder) / f"{place}.npy", mmap_mode="r", allow_pickle=False)
            for place, name in enumerate(facts.pop("names"))
        }
        domain = Domain.from_json(facts["domain"])
        if domain.names != tuple(columns) or len({column.shape for column in columns.values()}) != 1:
            raise ValueError
        for attribute, column in zip(domain, columns.values(), strict=True):
            if column.dtype != attribute.dtype or column.ndim != 1 or int(column.max()) >= attribute.size:
                raise ValueError
    except (OSError, ValueError, KeyError, TypeError, EOFError, DeskError):
        raise BadFile(_DAMAGED) from None
    return columns, facts


def _private(path: Path) -> Any:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def _settle(file: Any) -> None:
    file.flush()
    os.fsync(file.fileno())
