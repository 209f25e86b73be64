"""The address under which something that is shared is found, to be passed on and cited."""

from __future__ import annotations

from urllib.parse import quote, urlsplit

import streamlit as st

from dashboard.door import access

LINK = "item"
"""Names what is open in the address of the page Shared."""
PAGE = "shared"
SHARING = {PAGE, "front", "release", "ask", "decide"}
"""Pages on which something is shared or shown: the last part of their address is no part of this one."""


def link(identity: str) -> str:
    """As whoever looks at this page came to it: another name leads elsewhere. Empty where it is not known."""
    return linked(st.context.url or "", identity)


def public_link(identity: str) -> str:
    """The same for texts that others read: empty where the address leads to the reader's own machine."""
    found = link(identity)
    return "" if access.loopback(urlsplit(found).hostname or "localhost") else found


def linked(address: str, identity: str) -> str:
    """
    >>> linked("https://desk.example/clinic/release", "4f2a")
    'https://desk.example/clinic/shared?item=4f2a'
    >>> linked("http://desk.example:8600/", "4f2a"), linked("javascript:x", "4f2a")
    ('http://desk.example:8600/shared?item=4f2a', '')
    """
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        return ""
    folders = [part for part in parts.path.split("/") if part]
    if folders and folders[-1] in SHARING:
        del folders[-1]
    path = "".join(f"/{part}" for part in [*folders, PAGE])
    return f"{parts.scheme}://{parts.netloc}{path}?{LINK}={quote(identity)}"
