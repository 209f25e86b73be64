"""One attempt at a paid plan at a time, whoever makes it: threads, desks and servers on one workspace.

**Privacy** A plan that is paid for and has no result may be run again. Two runs at the same time would be two draws,
of which the one that ends first is stored; how long a run takes may depend on what it drew, so that would be a choice
between draws. Whoever runs a plan on one machine therefore holds a lock of the operating system on a file named after
the plan. The lock dies with its process, so a killed attempt can be resumed at once, for a reason that does not depend
on its draw. Servers that share a database know nothing of each other's processes, and hold leases (`leases.py`).
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Protocol

from core.base.errors import BadParameter, DeskError
from core.ledger.database import Connection


class Attempt(Protocol):
    """Being the one who is at a plan."""

    def check(self, connection: Connection) -> None:
        """Refuse what is about to be written, in this transaction, where another has taken the plan over."""


class Attempts(Protocol):
    """Who is at which plan."""

    @property
    def runs_out(self) -> float | None:
        """Seconds after which the attempt of a server that died is anybody's; None where that is noticed at once."""

    def only(self, plan_id: str) -> AbstractContextManager[Attempt]:
        """Be the only one at this plan; waits until whoever is at it has finished or is gone."""

    def under_way(self, plan_id: str) -> bool:
        """Whether somebody, here or elsewhere, is at this plan now."""


class HeldLock:
    """An attempt that nobody can take over: its lock lives as long as its process."""

    def check(self, connection: Connection) -> None:
        pass


class LockedAttempts:
    """The locks of one workspace: a folder in which a file exists for as long as somebody is at a plan."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def runs_out(self) -> None:
        return None

    @contextmanager
    def only(self, plan_id: str) -> Iterator[HeldLock]:
        file = self._locked(self._place(plan_id))
        try:
            yield HeldLock()
        finally:
            # Unlinked while it is locked: whoever waits for this file finds out that it is no longer the one in place.
            with suppress(OSError):
                self._place(plan_id).unlink()
            os.close(file)

    def under_way(self, plan_id: str) -> bool:
        try:
            file = os.open(self._place(plan_id), os.O_RDWR)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise DeskError(_UNUSABLE) from error
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(file)
        return False

    def _locked(self, place: Path) -> int:
        """An open file that holds the lock, and is still the one in place."""
        while True:
            try:
                self._folder.mkdir(mode=0o700, exist_ok=True)
                file = os.open(place, os.O_CREAT | os.O_RDWR, 0o600)
            except OSError as error:
                raise DeskError(_UNUSABLE) from error
            try:
                # One open file is one holder, in this process or another, so this keeps threads apart as well.
                fcntl.flock(file, fcntl.LOCK_EX)
                if _in_place(file, place):
                    return file
            except OSError as error:
                os.close(file)
                raise DeskError(_UNUSABLE) from error
            except BaseException:
                os.close(file)
                raise
            os.close(file)

    def _place(self, plan_id: str) -> Path:
        check_plan_id(plan_id)
        return self._folder / plan_id


def check_plan_id(plan_id: str) -> None:
    if not re.fullmatch("[0-9A-Za-z_-]{1,128}", plan_id):
        raise BadParameter("plan id", "must be 1 to 128 letters and digits.")


_UNUSABLE = "The workspace cannot be locked; nothing was run: it must be a folder of yours on a local disk."


def _in_place(file: int, place: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), os.stat(place))
    except FileNotFoundError:
        return False
