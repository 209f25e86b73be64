"""The address at which programs ask: JSON in, JSON out, with a token and at the rate that the curator set.

    GET  /answers/SESSION           what can be asked: columns, what is left, the rate
    POST /answers/SESSION/price     {"question": "..."}: what it takes at most; nothing is asked
    POST /answers/SESSION           {"question": "age >= 65"} or {"question": "SELECT ..."}: the answer

The token goes into the header `Authorization: Bearer TOKEN`. Whatever is refused is {"error": "one sentence"}.

**Privacy** A program asks the same session as the page does: questions are paced, paid, limited, stored and listed
alike. Without the token every session looks the same, whether or not there is one. Nothing is written to the log.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections import Counter
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from core.base.errors import DeskError, Failed
from core.base.unexpected import noted
from core.desk.desk import Desk
from core.desk.kept.machine_keys import MachineKey
from core.sessions.session import Session
from dashboard.answers import told
from dashboard.answers.rate import Rates
from dashboard.door.gate import ANSWERS

MOST_BODY = 16_384
"""Bytes: a question has at most 2,000 characters, each up to six bytes in JSON."""
PATIENCE = 10.0
"""Seconds in which a body must have arrived."""
WORKERS, MOST_EACH = 8, 2
"""Requests that are worked on at once, and those of one session among them, whose answers follow one another anyway:
pages and other sessions are served beside them."""
CLOSED = "This session is closed or no longer shared; it takes no more questions."


@dataclass(frozen=True)
class Told:
    """One response."""

    status: int
    content: dict[str, Any]
    headers: dict[str, str] = field(default_factory=dict)


class Declined(Exception):
    """A request that is not answered, with what is told instead."""

    def __init__(self, status: int, sentence: str, **headers: str) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.told = Told(status, {"error": sentence}, named)
        super().__init__(sentence)


class AnswersRoute:
    """An ASGI application for everything below its address."""

    def __init__(self, desk: Callable[[], Desk], rates: Rates | None = None) -> None:
        """`desk` opens the workspace at the first question."""
        self._desk = desk
        self._rates = rates or Rates()
        self._workers = ThreadPoolExecutor(WORKERS, thread_name_prefix="answers")
        self._busy: Counter[str] = Counter()

    async def __call__(self, scope: Any, receive: Callable[[], Awaitable[Any]], send: Callable[..., Any]) -> None:
        try:
            found = await self._respond(scope, receive)
        except Declined as declined:
            found = declined.told
        except Exception as problem:
            # The text of an unforeseen error may quote what is private.
            found = Told(500, {"error": f"The answer could not be computed ({noted(problem)})."})
        await _send(send, found)

    async def _respond(self, scope: Any, receive: Callable[[], Awaitable[Any]]) -> Told:
        session, _, rest = scope["path"].partition(ANSWERS)[2].partition("/")
        if rest not in ("", "price"):
            raise Declined(404, "There is nothing here.")
        wanted = ("POST",) if rest else ("GET", "POST")
        if scope["method"] not in wanted:
            raise Declined(405, "This method is not answered here.", allow=", ".join(wanted))
        key = await asyncio.to_thread(self._key, session, _token(scope))
        wait = self._rates.wait(session, key.per_minute)
        if wait:
            sentence = f"This key may ask {key.per_minute} questions a minute; wait before the next."
            raise Declined(429, sentence, retry_after=str(math.ceil(wait)))
        if scope["method"] == "GET":
            return await self._work(session, partial(self._about, session, key))
        text = _question(await _body(scope, receive))
        return await self._work(session, partial(self._price if rest else self._answer, session, key, text))

    async def _work(self, session: str, work: Callable[[], Told]) -> Told:
        """Beside the pages, in a thread of its own."""
        if self._busy[session] >= MOST_EACH or self._busy.total() >= WORKERS:
            raise Declined(429, "Earlier questions are still being answered; ask again in a moment.", retry_after="1")
        self._busy[session] += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._workers, work)
        finally:
            self._busy[session] -= 1

    def _key(self, session: str, token: str) -> MachineKey:
        try:
            key = self._desk().machine_keys.opened(session, token)
        except DeskError:
            key = None
        if key is None:
            raise Declined(401, "This token does not open a session here.", www_authenticate="Bearer")
        return key

    def _about(self, session: str, key: MachineKey) -> Told:
        title, found = self._shared(session)
        return Told(200, told.about(found, title, key.per_minute))

    def _price(self, session: str, key: MachineKey, text: str) -> Told:
        _, found = self._shared(session)
        return Told(200, told.priced(_refusing(lambda: told.price(found, text))))

    def _answer(self, session: str, key: MachineKey, text: str) -> Told:
        _, found = self._shared(session)
        price = _refusing(lambda: told.price(found, text))
        # One was taken already when the request was let in.
        self._rates.charge(session, key.per_minute, price.questions - 1)
        try:
            return Told(200, _refusing(lambda: told.answer(found, text)))
        except Declined:
            if found.status == "closed":
                raise Declined(410, CLOSED) from None
            raise

    def _shared(self, session: str) -> tuple[str, Session]:
        """A session that is open to everybody."""
        desk = self._desk()
        item = desk.shared_items.find(session)
        found = None if item is None or item.kind != "session" else desk.session(session)
        if item is None or found is None or found.status == "closed":
            raise Declined(410, CLOSED)
        return item.title, found


def _refusing(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except Failed as failed:
        raise Declined(500, str(failed)) from None
    except DeskError as refused:
        raise Declined(422, str(refused)) from None


def _token(scope: Any) -> str:
    """What the request brings; nothing is as wrong as any other."""
    brought = [value for name, value in scope["headers"] if name.lower() == b"authorization"]
    kind, _, token = brought[0].decode("latin-1").partition(" ") if len(brought) == 1 else ("", "", "")
    return token.strip() if kind.lower() == "bearer" else ""


async def _body(scope: Any, receive: Callable[[], Awaitable[Any]]) -> bytes:
    announced = [value for name, value in scope["headers"] if name.lower() == b"content-length"]
    if any(not value.isdigit() or len(value) > 9 or int(value) > MOST_BODY for value in announced):
        raise Declined(413, f"A question has at most {MOST_BODY:,} bytes.", connection="close")
    try:
        return await asyncio.wait_for(_read(receive), PATIENCE)
    except TimeoutError:
        raise Declined(408, "The question did not arrive in time.", connection="close") from None


async def _read(receive: Callable[[], Awaitable[Any]]) -> bytes:
    body = b""
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise Declined(400, "The question did not arrive.")
        body += message.get("body", b"")
        if len(body) > MOST_BODY:
            raise Declined(413, f"A question has at most {MOST_BODY:,} bytes.", connection="close")
        if not message.get("more_body", False):
            return body


def _question(body: bytes) -> str:
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict) or content.keys() != {"question"} or not isinstance(content["question"], str):
        raise Declined(400, 'Send JSON such as {"question": "age >= 65"}.')
    return content["question"]


async def _send(send: Callable[..., Any], found: Told) -> None:
    body = json.dumps(found.content, allow_nan=False).encode()
    fixed = {"content-type": "application/json", "cache-control": "no-store", "content-length": str(len(body))}
    pairs = [(name.encode(), value.encode("latin-1")) for name, value in (found.headers | fixed).items()]
    await send({"type": "http.response.start", "status": found.status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})
