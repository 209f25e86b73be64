"""Keys with which programs may ask a shared session, each with the rate that the curator set.

A token is 256 bits from the operating system. It is told once; the workspace keeps its digest alone, so that nobody
who reads a backup can ask in its name. One session has one key: a new one replaces the old.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import asdict, dataclass

from core.base.errors import BadParameter
from core.desk.kept.small_files import SmallItems

MOST_PER_MINUTE = 600
"""Questions: more than the padded answers of one session can follow."""


@dataclass(frozen=True, kw_only=True)
class MachineKey:
    """What is kept of a key."""

    digest: str
    """SHA-256 of the token; a token that nobody can guess needs no slow hash."""
    per_minute: int
    """Questions that may be asked with it in a minute."""

    def opens(self, token: str) -> bool:
        """Whether this is the token; how long the comparison takes tells nothing about it."""
        return hmac.compare_digest(_digest(token), self.digest)


NO_KEY = MachineKey(digest="-" * 64, per_minute=1)
"""Compared where there is none, so that it takes as long; no token has this digest."""


class MachineKeys:
    """The keys of one workspace."""

    def __init__(self, items: SmallItems) -> None:
        self._items = items

    def make(self, session: str, *, per_minute: int) -> str:
        """A new token for a session; an old one is worth nothing from now on."""
        if isinstance(per_minute, bool) or not isinstance(per_minute, int) or not 1 <= per_minute <= MOST_PER_MINUTE:
            raise BadParameter("per_minute", f"must be a whole number from 1 to {MOST_PER_MINUTE}.")
        token = secrets.token_urlsafe(32)
        self._items.write(session, asdict(MachineKey(digest=_digest(token), per_minute=per_minute)))
        return token

    def withdraw(self, session: str) -> None:
        self._items.remove(session)

    def find(self, session: str) -> MachineKey | None:
        try:
            content = self._items.read(session)
            return None if content is None else MachineKey(**content)
        except TypeError:
            return None

    def opened(self, session: str, token: str) -> MachineKey | None:
        """The key of a session, for whoever brings its token."""
        key = self.find(session)
        return key if (key or NO_KEY).opens(token) else None


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
