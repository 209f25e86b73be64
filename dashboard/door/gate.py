"""The gate that every request passes before Streamlit sees it.

* **Same origin only.** Streamlit takes connections from a page at any port of localhost. Cookies know no ports, so such
  a page could act as the curator whose browser it runs in; here the origin has to be the very host that is asked.
* **The key.** A link with the key becomes a cookie that no script can read and no other site can send; the answer leads
  to the same address without the key.
* **Uploads** are taken from sessions that were shown a curator's page, up to their limit; all others are refused before
  the body is read.
* **Programs** that ask by HTTP are led to their own address; they bring a token, never the key.
* **Closed to everybody**: the memory statistics, which tell the sizes of uploaded files.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import streamlit as st

from dashboard.door.key import PARAMETER, cookie_name, key
from dashboard.door.uploads import uploads

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
Lifespan = Callable[[st.App], AbstractAsyncContextManager[dict[str, Any] | None]]

STATISTICS = "/_stcore/metrics"
UPLOAD = "/_stcore/upload_file/"
ANSWERS = "/answers/"
POLICY_VIOLATION = 1008
"""The close code of a WebSocket that is not wanted here."""


class GatedApp(st.App):
    """A Streamlit app behind the gate."""

    def __init__(self, script: Path, lifespan: Lifespan, answers: Application | None = None) -> None:
        """`answers` serves programs, at addresses below `ANSWERS`."""
        super().__init__(script, lifespan=lifespan)
        self._answers = answers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await super().__call__(scope, receive, send)
        elif not same_origin(scope):
            await _refuse(scope, send, 403, "This address is answered to its own pages only.")
        elif STATISTICS in scope["path"]:
            await _refuse(scope, send, 404, "There is nothing here.")
        elif self._answers is not None and scope["type"] == "http" and ANSWERS in scope["path"]:
            await self._answers(scope, receive, send)
        elif UPLOAD in scope["path"]:
            await self._upload(scope, receive, send)
        elif (offered := _offered(scope)) is not None:
            await _enter(scope, send, offered)
        else:
            await super().__call__(scope, receive, send)

    async def _upload(self, scope: Scope, receive: Receive, send: Send) -> None:
        session = scope["path"].partition(UPLOAD)[2].partition("/")[0]
        if not uploads().admitted(session):
            await _refuse(scope, send, 403, "Only curators upload files.")
            return
        size = _length(scope)
        if size is None:
            await _refuse(scope, send, 411, "Say how long the file is.")
            return
        with uploads().room(session, size) as fits:
            if fits:
                await super().__call__(scope, receive, send)
            else:
                await _refuse(scope, send, 413, "Remove a file first: this session holds as much as it may.")


def same_origin(scope: Scope) -> bool:
    """Whether a request comes from our own page, or from no page at all, and says so once."""
    hosts, origins = _headers(scope, b"host"), _headers(scope, b"origin")
    if len(hosts) != 1 or len(origins) > 1:
        return False
    try:
        return not origins or urlsplit(origins[0]).netloc.lower() == hosts[0].lower()
    except ValueError:
        return False


def address_without_key(scope: Scope) -> str:
    """The address that was asked for, on this very server, without the key."""
    pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    rest = urlencode([(name, value) for name, value in pairs if name != PARAMETER])
    # Two slashes at the beginning would name another server.
    path = "/" + quote(scope["path"].lstrip("/"))
    return f"{path}?{rest}" if rest else path


def _offered(scope: Scope) -> str | None:
    """What a link says is the key."""
    if scope["type"] != "http" or scope["method"] != "GET":
        return None
    return dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)).get(PARAMETER)


async def _enter(scope: Scope, send: Send, offered: str) -> None:
    """Turn the key into a cookie; a wrong one leads to the same page, as a visitor."""
    headers = {
        "location": address_without_key(scope),
        "cache-control": "no-store",
        "referrer-policy": "no-referrer",
    }
    if key().opens(offered):
        secure = "; Secure" if scope["scheme"] == "https" else ""
        headers["set-cookie"] = f"{cookie_name()}={key().secret}; Path=/; HttpOnly; SameSite=Strict{secure}"
    await _answer(send, 303, headers, "")


async def _refuse(scope: Scope, send: Send, status: int, sentence: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": POLICY_VIOLATION})
    else:
        # Closed, because the rest of a body that nobody reads may follow.
        await _answer(send, status, {"connection": "close", "cache-control": "no-store"}, sentence)


async def _answer(send: Send, status: int, headers: dict[str, str], text: str) -> None:
    plain = {"content-type": "text/plain; charset=utf-8", "content-length": str(len(text.encode()))}
    pairs = [(name.encode(), value.encode("latin-1")) for name, value in (headers | plain).items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": text.encode()})


def _headers(scope: Scope, wanted: bytes) -> list[str]:
    return [value.decode("latin-1").strip() for name, value in scope["headers"] if name.lower() == wanted]


def _length(scope: Scope) -> int | None:
    """The announced size of a body; a request that sends none and announces none has size 0.

    A body in chunks is as long as it likes, also where a length is announced beside: servers believe the chunks.
    """
    if _headers(scope, b"transfer-encoding"):
        return None
    announced = _headers(scope, b"content-length")
    if not announced:
        return None if scope["method"] == "PUT" else 0
    return int(announced[0]) if len(announced) == 1 and announced[0].isdecimal() else None
