"""Encoded columns on disk: a folder in the workspace that is complete or not there, readable by its owner only."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from core.base.errors import BadFile, DeskError
from core.schema.domain import Domain
from core.table.sentences import DAMAGED

EncodedColumns = Mapping[str, NDArray[Any]]

_NO_ROOM = "The encoded table cannot be stored; check the space and permissions of the workspace."
_DRAFT = ".draft-"


class Store(Protocol):
    """Where codes go while rows are read."""

    def begin(self, dtypes: Mapping[str, np.dtype[Any]], rows: int) -> None: ...

    def append(self, name: str, codes: NDArray[Any]) -> None: ...

    def columns(self) -> dict[str, NDArray[Any]]: ...


class InMemory:
    """Columns that are kept in memory."""

    def __init__(self) -> None:
        self._columns: dict[str, NDArray[Any]] = {}
        self._filled: dict[str, int] = {}

    def begin(self, dtypes: Mapping[str, np.dtype[Any]], rows: int) -> None:
        self._columns = {name: np.empty(rows, dtype=dtype) for name, dtype in dtypes.items()}
        self._filled = dict.fromkeys(dtypes, 0)

    def append(self, name: str, codes: NDArray[Any]) -> None:
        start = self._filled[name]
        self._columns[name][start : start + len(codes)] = codes
        self._filled[name] = start + len(codes)

    def columns(self) -> dict[str, NDArray[Any]]:
        return self._columns


class DraftColumns:
    """Columns that are written to a folder beside those of finished tables, which it becomes or which is removed.

    The folder is locked as long as somebody writes it. What a killed program left is not, and goes with the next draft.
    """

    def __init__(self, parent: Path) -> None:
        self._parent = parent
        self._made: tuple[Path, int] | None = None
        self._names: list[str] = []

    def begin(self, dtypes: Mapping[str, np.dtype[Any]], rows: int) -> None:
        self._names = list(dtypes)
        with _one_sentence():
            self._parent.mkdir(parents=True, exist_ok=True)
            _sweep(self._parent)
            self._made = _locked(self._parent)
            for name, dtype in dtypes.items():
                with _private(self._place(name)) as file:
                    told = {"descr": npy.dtype_to_descr(dtype), "fortran_order": False, "shape": (rows,)}
                    npy.write_array_header_1_0(file, told)

    def append(self, name: str, codes: NDArray[Any]) -> None:
        # opened anew for every piece: a table may have more columns than a program may have open files
        with _one_sentence(), self._place(name).open("ab") as file:
            file.write(np.ascontiguousarray(codes).data)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Mapped, not read into memory."""
        return {name: _mapped(self._place(name)) for name in self._names}

    def keep(self, folder: Path, facts: Mapping[str, Any]) -> None:
        """Make it a finished table."""
        if folder.exists():
            raise BadFile("A table is already stored at this place; it is never overwritten.")
        with _one_sentence():
            for name in self._names:
                with self._place(name).open("ab") as file:
                    _settle(file)
            with _private(self._folder / "table.json") as file:
                file.write(json.dumps({**facts, "names": self._names}).encode())
                _settle(file)
            self._folder.rename(folder)

    def discard(self) -> None:
        """Remove what was not kept."""
        if self._made is not None:
            folder, lock = self._made
            shutil.rmtree(folder, ignore_errors=True)
            os.close(lock)
            self._made = None

    @property
    def _folder(self) -> Path:
        assert self._made is not None
        return self._made[0]

    def _place(self, name: str) -> Path:
        return self._folder / f"{self._names.index(name)}.npy"


@contextmanager
def draft(parent: Path) -> Iterator[DraftColumns]:
    """A draft in the folder of all tables; what was not kept is gone at the end."""
    written = DraftColumns(parent)
    try:
        yield written
    finally:
        written.discard()


@contextmanager
def _one_sentence() -> Iterator[None]:
    """Whatever the disk says."""
    try:
        yield
    except OSError:
        raise BadFile(_NO_ROOM) from None


def _locked(parent: Path) -> tuple[Path, int]:
    """A new folder, and the lock that tells others that it is in use."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_DRAFT, dir=parent))
        with suppress(FileNotFoundError):  # swept away by somebody else before it was locked
            lock = os.open(folder, os.O_RDONLY)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if folder.exists():
                return folder, lock
            os.close(lock)


def _sweep(parent: Path) -> None:
    """Remove drafts that nobody writes any more."""
    for folder in parent.glob(f"{_DRAFT}*"):
        with suppress(OSError):
            lock = os.open(folder, os.O_RDONLY)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)


def save(folder: Path, columns: EncodedColumns, facts: Mapping[str, Any]) -> None:
    """Write all columns and facts to a folder that appears complete or not at all, readable by its owner only."""
    with draft(folder.parent) as written:
        written.begin({name: column.dtype for name, column in columns.items()}, len(next(iter(columns.values()), ())))
        for name, column in columns.items():
            written.append(name, column)
        written.keep(folder, facts)


def load(folder: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Columns (mapped, not read into memory) and facts of a stored table."""
    try:
        facts = json.loads((Path(folder) / "table.json").read_text(encoding="utf-8"))
        columns = {name: _mapped(Path(folder) / f"{place}.npy") for place, name in enumerate(facts.pop("names"))}
        domain = Domain.from_json(facts["domain"])
        if domain.names != tuple(columns) or len({column.shape for column in columns.values()}) != 1:
            raise ValueError
        for attribute, column in zip(domain, columns.values(), strict=True):
            if column.dtype != attribute.dtype or column.ndim != 1 or int(column.max()) >= attribute.size:
                raise ValueError
    except (OSError, ValueError, KeyError, TypeError, EOFError, DeskError):
        raise BadFile(DAMAGED) from None
    return columns, facts


def _mapped(path: Path) -> NDArray[Any]:
    return np.load(path, mmap_mode="r", allow_pickle=False)


def _private(path: Path) -> Any:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def _settle(file: Any) -> None:
    file.flush()
    os.fsync(file.fileno())
