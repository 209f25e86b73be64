"""What a workspace has spent, kept outside of it: so that an older copy that is put back is noticed.

**Privacy** A ledger restored from a backup has forgotten its latest spends, and would draw the same plans again with
fresh noise, for nothing; an older session file would answer again from a state that has answered already. Nothing
inside such a copy can tell. So every spend is written here too, after it is committed and before anything is drawn for
it, and the number of every answer before it leaves; a copy that knows less than this journal spends and answers nothing
more until what it lost is entered (`ledger.enter_lost`). A session that gave back what it had not used is noted here
before it does: an older copy of it may still be open, and would use it all the same.

The journal lies in the user's state folder, under the random name that the workspace's ledger has. Two copies of one
workspace share it, and so cannot each spend the whole budget. It is needed just as much where the ledger is a database
of a server: that is restored from backups too, or goes on from a stand-by that had not heard of the latest spends. Of
several servers each fills its journal from the ledger before every spend, so that any one that knew of a spend notices
its loss; servers that share the folder know all of them.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from core.base.errors import DeskError

UNUSABLE = (
    "What is spent cannot be noted outside the workspace, so nothing is spent; set RELEASE_DESK_STATE to a folder that "
    "you can write."
)


@dataclass(frozen=True, kw_only=True)
class JournalSpend:
    """One spend with all that is needed to enter it again."""

    plan_id: str
    dataset_id: str
    plan_json: str
    amounts: str
    reserved_at: str
    fingerprint: str
    unit_json: str
    budget_json: str
    ways: str
    total: int


class Journal:
    """The spends of one workspace, a file with one line each that is only ever appended to, and a file per session."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self) -> tuple[dict[str, JournalSpend], set[str]]:
        """Every spend by its plan, and the plans that have a result."""
        spends, stored = {}, set()
        try:
            text = (self._folder / "spends").read_text(encoding="utf-8")
        except FileNotFoundError:
            return {}, set()
        except OSError as error:
            raise DeskError(UNUSABLE) from error
        for line in text.split("\n"):
            try:
                found = json.loads(line)
            except ValueError:  # cut off by a crash, and written again when the ledger was next opened
                continue
            if "stored" in found:
                stored.add(found["stored"])
            else:
                spends[found["plan_id"]] = JournalSpend(**found)
        return spends, stored

    def note(self, spends: Iterable[JournalSpend], stored: Iterable[str]) -> None:
        """Write these down for good; what is there already does no harm twice."""
        lines = [json.dumps(asdict(spend)) for spend in spends] + [json.dumps({"stored": each}) for each in stored]
        if not lines:
            return
        # A newline first: what a crash has cut off spoils its own line only.
        content = "".join(f"\n{line}\n" for line in lines).encode()
        try:
            file = self._opened(self._folder / "spends", os.O_APPEND)
            try:
                # Servers on several machines may share the folder, and a network's file system needs this to append.
                fcntl.flock(file, fcntl.LOCK_EX)
                if os.write(file, content) < len(content):
                    raise OSError(errno.ENOSPC, "the disk is full")  # a disk that fills up says so by what it left out
                os.fsync(file)
            finally:
                os.close(file)
        except OSError as error:
            raise DeskError(UNUSABLE) from error

    def answers(self, session: str) -> int:
        """How many answers a session has given, wherever its file was put back from."""
        try:
            return os.stat(self._folder / f"session-{session}").st_size
        except FileNotFoundError:
            return 0
        except OSError as error:
            raise DeskError(UNUSABLE) from error

    def note_answer(self, session: str, number: int) -> None:
        """The file is as long as the session has answers: whoever writes last, it never gets shorter."""
        try:
            file = self._opened(self._folder / f"session-{session}", 0)
            try:
                os.pwrite(file, b".", number - 1)
            finally:
                os.close(file)
        except OSError as error:
            raise DeskError(UNUSABLE) from error

    def note_end(self, session: str) -> None:
        """That a session answers no more, whatever copy of it is asked."""
        try:
            file = self._opened(self._folder / f"ended-{session}", 0)
            try:
                os.fsync(file)
            finally:
                os.close(file)
            folder = os.open(self._folder, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError as error:
            raise DeskError(UNUSABLE) from error

    def ended(self, session: str) -> bool:
        return (self._folder / f"ended-{session}").exists()

    @contextmanager
    def only(self, session: str) -> Iterator[None]:
        """Be the only one who answers or ends a session, also in another copy of the workspace."""
        try:
            file = self._opened(self._folder / f"turn-{session}", 0)
            fcntl.flock(file, fcntl.LOCK_EX)
        except OSError as error:
            raise DeskError(UNUSABLE) from error
        try:
            yield
        finally:
            os.close(file)

    def _opened(self, place: Path, how: int) -> int:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.open(place, os.O_WRONLY | os.O_CREAT | how, 0o600)
