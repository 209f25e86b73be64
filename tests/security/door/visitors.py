"""Visitors that speak Streamlit's own protocol: many of them, without a browser."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Subprotocol

from tests.dashboard.server import Server

PATIENCE = 300.0
"""Seconds to wait for anything on a busy machine; nothing here measures time."""


@dataclass
class Visit:
    """What one visitor's browser was sent."""

    pages: set[str] = field(default_factory=set)
    """Titles of the pages that exist for this visitor."""
    titles: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    statistics: bool = True
    """Whether the browser was told to send usage statistics to somebody."""
    session: str = ""
    text: str = ""
    finished: bool = False


@asynccontextmanager
async def arriving(
    server: Server,
    page: str = "",
    *,
    host: str = "127.0.0.1",
    headers: dict[str, str] | None = None,
    at: str = "127.0.0.1",
    port: int | None = None,
    protocols: tuple[str, ...] = (),
) -> AsyncIterator[Visit]:
    """Open a page as a new tab would, wait until it stands, and stay; through a proxy where another port is named."""
    seen = Visit()
    port = port or server.port
    uri = f"ws://{host}:{port}/_stcore/stream"
    async with asyncio.timeout(PATIENCE), connect(
        uri, host=at, port=port, subprotocols=[Subprotocol(name) for name in ("streamlit", *protocols)],
        additional_headers=headers, proxy=None, max_size=None, open_timeout=PATIENCE, ping_interval=None,
    ) as socket:  # fmt: skip
        wish = BackMsg()
        wish.rerun_script.page_name = page
        wish.rerun_script.query_string = ""
        await socket.send(wish.SerializeToString())
        async for message in socket:
            assert isinstance(message, bytes)
            _read(ForwardMsg.FromString(message), seen)
            if seen.finished:
                break
        yield seen


async def visit(server: Server, page: str = "", **how: Any) -> Visit:
    """Open a page, wait until it stands, and leave."""
    async with arriving(server, page, **how) as seen:
        return seen


async def refused(server: Server, **how: Any) -> bool:
    """Whether the server does not even begin to talk."""
    try:
        await visit(server, **how)
    except InvalidStatus as answer:
        return answer.response.status_code == 403
    return False


def _read(message: ForwardMsg, seen: Visit) -> None:
    kind = message.WhichOneof("type")
    if kind == "new_session":
        seen.statistics = message.new_session.config.gather_usage_stats
        seen.session = message.new_session.initialize.session_id
    elif kind == "navigation":
        seen.pages = {page.page_name for page in message.navigation.app_pages}
    elif kind == "delta":
        element = message.delta.new_element
        sort = element.WhichOneof("type")
        seen.text += str(element)
        if sort == "heading" and element.heading.tag == "h1":
            seen.titles.append(element.heading.body)
        if sort == "exception" or (sort == "alert" and element.alert.format == element.alert.ERROR):
            seen.errors.append(str(element))
    elif kind == "script_finished":
        seen.finished = message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY


async def crowd(server: Server, size: int, page: str) -> list[Visit]:
    """So many visitors at the same moment."""
    stranger = {"X-Forwarded-For": "203.0.113.9"}
    return list(await asyncio.gather(*(visit(server, page, headers=stranger) for _ in range(size))))
