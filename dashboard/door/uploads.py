"""Which sessions may upload, and how much: Streamlit's own address for uploads takes files from every visitor.

A page that is shown to a curator admits its session; the gate asks here before a byte of the body is read. Files that a
session holds are forgotten by Streamlit when the session ends or the file is removed, and the room is free again.

Streamlit copies what a widget holds at each run of its page, which for a file takes as much memory again; here files
are only read, so they are never copied.
"""

from __future__ import annotations

import copyreg
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from streamlit import config, runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile

MEGABYTE = 1 << 20
FILES = 2
"""Largest files that a session may hold at once: the table and a public sample beside it."""
SMALL_FILES = 8 * MEGABYTE
"""What schemas, codebooks and plans need together, where tables are not taken."""


def _never_copied(file: UploadedFile) -> str:
    """A name instead of parts tells `copy` that this is one thing wherever it stands."""
    return file.file_id


copyreg.pickle(UploadedFile, _never_copied)


class Uploads:
    """Rooms for files by session; safe from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._limits: dict[str, int] = {}
        self._arriving: dict[str, int] = {}

    def admit(self, session: str, limit: int) -> None:
        """Let a session hold up to so many bytes, or none any more; sessions that have ended are forgotten."""
        with self._lock:
            others = {one: most for one, most in self._limits.items() if one != session and _active(one)}
            self._limits = others | ({session: limit} if limit else {})

    def admitted(self, session: str) -> bool:
        with self._lock:
            return session in self._limits

    @contextmanager
    def room(self, session: str, size: int) -> Iterator[bool]:
        """Whether so many bytes still fit; while they arrive nobody else gets the same room."""
        with self._lock:
            arriving = self._arriving.get(session, 0)
            fits = _received(session) + arriving + size <= self._limits.get(session, 0)
            if fits:
                self._arriving[session] = arriving + size
        try:
            yield fits
        finally:
            if fits:
                self._leave(session, size)

    def _leave(self, session: str, size: int) -> None:
        with self._lock:
            self._arriving[session] -= size
            if not self._arriving[session]:
                del self._arriving[session]


@cache
def uploads() -> Uploads:
    """The one register of this process."""
    return Uploads()


def tables() -> int:
    """Bytes for a session that may upload tables."""
    return FILES * config.get_option("server.maxUploadSize") * MEGABYTE


def admit_this_session(limit: int) -> None:
    """Let whoever looks at the page that runs now hold so many bytes."""
    context = get_script_run_ctx()
    if context is not None:
        uploads().admit(context.session_id, limit)


def _active(session: str) -> bool:
    return runtime.exists() and runtime.get_instance().is_active_session(session)


def _received(session: str) -> int:
    """Bytes that Streamlit keeps for a session."""
    manager = runtime.get_instance().uploaded_file_mgr
    assert isinstance(manager, MemoryUploadedFileManager), "the command's server keeps uploads in memory"
    return sum(len(file.data) for file in list(manager.file_storage.get(session, {}).values()))
