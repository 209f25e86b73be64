"""Hostile uploads are taken in by a process of their own, which is confined and watched.

It does to each upload what the dashboard does: on disk under a name of our own, its tables listed, its header read, its
rows loaded. It may not grow beyond a gigabyte, may not stay long with any upload, and may leave nothing behind.
"""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

from core.base.errors import BadFile, BadSchema, DeskError
from core.privacy.noise import Noise
from core.privacy.unit import Unit
from core.schema.domain import Categories, Domain, Integers
from core.table.source import stored_tables
from core.table.table import Table, TableSource
from dashboard.views.data import upload
from tests.forked import processes

DECLARED = (BadFile, BadSchema)
MEMORY = 1 << 30
"""Bytes that the process may need at most, measured; the limit that is enforced is three times that."""
PATIENCE = 60.0
"""Seconds after which the process is ended: far above the two that an upload may take, because machines are busy."""
SCHEMA = Domain((Integers(name="a", low=0, high=9, missing=True), Categories(name="b", values=("x",), other="else")))

Upload = tuple[str, bytes]
"""The name that the browser gives, and the content."""
Makes = Callable[..., Iterable[Upload]]


class Sent(BytesIO):
    """An upload as Streamlit hands it over."""

    def __init__(self, name: str, content: bytes) -> None:
        super().__init__(content)
        self.name = name


@dataclass(kw_only=True)
class Report:
    """What became of some uploads."""

    loaded: int = 0
    refused: int = 0
    undeclared: list[str] = field(default_factory=list)
    """Uploads that ended in anything but a declared error of one sentence."""
    written: list[str] = field(default_factory=list)
    """Files opened for writing outside the place for uploads."""
    left: list[str] = field(default_factory=list)
    """Files that were there afterwards."""
    slowest: float = 0.0
    """CPU seconds."""
    slowest_upload: str = ""
    peak: int = 0
    """Bytes of memory, at most."""


@dataclass(frozen=True, kw_only=True)
class Way:
    """How an upload is taken in; tests bring careless ones."""

    keep: Callable[[Any, Path], AbstractContextManager[Path]] = upload.on_disk
    read: Callable[[Path], object] | None = None

    def take(self, sent: Sent, workspace: Path) -> None:
        with self.keep(sent, workspace) as path:
            (self.read or read)(path)


def read(path: Path) -> object:
    """What the Data page does with a file that was chosen; a header is read on the way."""
    tables = stored_tables(path)
    source: TableSource = path if not tables else (path, tables[0])
    return Table.load(source, SCHEMA, Unit.row(), Noise())


def take_in(folder: Path, make: Makes, *arguments: Any, way: Way | None = None, patience: float = PATIENCE) -> Report:
    """Take in the uploads that `make(*arguments)` gives, in a child; fails where the child is ended or dies."""
    child = processes.Process(target=_child, args=(folder, make, arguments, way or Way(), patience))
    child.start()
    child.join()
    last = folder / "last"
    assert child.exitcode == 0, f"ended with {child.exitcode} at {last.read_text() if last.exists() else 'the start'}"
    report = Report(**json.loads((folder / "report").read_text()))
    report.left += [str(path) for path in sorted((folder / "home").rglob("*")) if path.name != upload.FOLDER]
    return report


def _child(folder: Path, make: Makes, arguments: tuple[Any, ...], way: Way, patience: float) -> None:
    home, report = folder / "home", Report()
    home.mkdir()
    # Everything that has a habit of writing somewhere is given a place that is looked at afterwards.
    os.environ.update(HOME=str(home), TMPDIR=str(home), XDG_DATA_HOME=str(home))
    os.chdir(home)
    allowed = str(home / upload.FOLDER) + os.sep
    uploads = make(*arguments)
    with (folder / "last").open("w") as last, (folder / "stack").open("w") as stack:
        sys.addaudithook(lambda event, details: _watch(event, details, allowed, report))
        resource.setrlimit(resource.RLIMIT_DATA, (3 * MEMORY, 3 * MEMORY))
        for number, (name, content) in enumerate(uploads):
            title = f"{number} {name!r:.60}"
            last.seek(0)
            last.write(f"upload {title}\n")
            last.flush()
            faulthandler.dump_traceback_later(patience, exit=True, file=stack)
            _one(way, Sent(name, content), home, report, title)
    faulthandler.cancel_dump_traceback_later()
    report.peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    made = json.dumps(asdict(report))
    (folder / "report").write_text(made)


def _one(way: Way, sent: Sent, home: Path, report: Report, title: str) -> None:
    started = time.process_time()
    try:
        way.take(sent, home)
        report.loaded += 1
    except DECLARED as problem:
        report.refused += 1
        if not _one_sentence(problem):
            report.undeclared.append(f"{title}: {problem}")
    except Exception as problem:
        report.undeclared.append(f"{title}: {type(problem).__name__}")
    seconds = time.process_time() - started
    if seconds > report.slowest:
        report.slowest, report.slowest_upload = seconds, title


def _one_sentence(problem: DeskError) -> bool:
    text = str(problem)
    return text.endswith(".") and "\n" not in text and len(text) < 250 and problem.__cause__ is None


def _watch(event: str, details: tuple[Any, ...], allowed: str, report: Report) -> None:
    """Note files that Python itself opens for writing; what the engines do shows in what is left."""
    if event == "open" and isinstance(details[0], str) and isinstance(details[2], int):
        writes = details[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        if writes and not details[0].startswith((allowed, "/dev/")):
            report.written.append(details[0])
