"""Visitors that speak Streamlit's own protocol: many of them, without a browser."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect
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
    text: str = ""
    finished: bool = False


async def visit(
    server: Server,
    page: str = "",
    *,
    host: str = "127.0.0.1",
    headers: dict[str, str] | None = None,
    at: str = "127.0.0.1",
    port: int | None = None,
) -> Visit:
    """Open a page as a new tab would, and wait until it stands; through a proxy where another port is named."""
    seen = Visit()
    port = port or server.port
    uri = f"ws://{host}:{port}/_stcore/stream"
    async with asyncio.timeout(PATIENCE), connect(
        uri, host=at, port=port, subprotocols=[Subprotocol("streamlit")], additional_headers=headers,
        proxy=None, max_size=None, open_timeout=PATIENCE, ping_interval=None,
    ) as socket:  # fmt: skip
        wish = BackMsg()
        wish.rerun_script.page_name = page
        wish.rerun_script.query_string = ""
        await socket.send(wish.SerializeToString())
        async for message in socket:
            assert isinstance(message, bytes)
            _read(ForwardMsg.FromString(message), seen)
            if seen.finished:
                return seen
    return seen


def _read(message: ForwardMsg, seen: Visit) -> None:
    kind = message.WhichOneof("type")
    if kind == "new_session":
        seen.statistics = message.new_session.config.gather_usage_stats
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
