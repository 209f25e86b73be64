"""The key to the curator's pages: drawn anew at every start, handed out by a printed link, kept by a cookie.

An address says where a request comes from, not who sent it: every user of a machine and every proxy on it comes from
loopback. Whoever holds the key has read what the command printed. `gate.py` turns the link into a cookie,
`access.py` looks at it.
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field
from functools import cache

from streamlit import config

PARAMETER = "token"
"""What the link calls it."""


@dataclass(frozen=True)
class Key:
    secret: str = field(repr=False)
    """256 bits from the operating system, in letters that need no quoting in a link or a cookie."""

    def opens(self, offered: object) -> bool:
        """Whether this is the key; how long the comparison takes tells nothing about it."""
        if not isinstance(offered, str):
            return False
        return hmac.compare_digest(offered.encode("utf-8", "replace"), self.secret.encode())


@cache
def key() -> Key:
    """The key of this process. A server that never prints it has a lock that nobody can open."""
    return Key(secrets.token_urlsafe(32))


def cookie_name() -> str:
    """Cookies know no ports: two desks on one machine would overwrite each other's."""
    return f"release-desk-{config.get_option('server.port')}"
