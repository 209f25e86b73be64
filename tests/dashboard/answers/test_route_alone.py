"""The route without a server: what goes wrong inside, what never arrives, and how many are let in at once."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from typing import Any

import pytest

from core.base.errors import Failed
from core.desk.kept.machine_keys import MachineKey
from dashboard.answers import route
from dashboard.answers.route import MOST_EACH, AnswersRoute

SECRET = "canary7c1f"


class Item:
    kind, title = "session", "Ask"


class Broken:
    """A session that goes wrong after it was asked, in one of several ways."""

    status = "open"
    problem: Exception = ValueError(SECRET)
    domain: Any = property(lambda self: (_ for _ in ()).throw(self.problem))


class Desk:
    """A desk with one session, of which every token is right."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self.machine_keys = self.shared_items = self

    def opened(self, session: str, token: str) -> MachineKey:
        return MachineKey(digest="", per_minute=600)

    def find(self, session: str) -> Item:
        return Item()

    def session(self, identity: str) -> Any:
        return self._session


async def sent(asked: AnswersRoute, *messages: dict[str, Any], method: str = "POST") -> tuple[int, dict[str, Any]]:
    """What a request is answered, whose body comes in these messages and then nothing."""
    waiting, found = list(messages), []

    async def receive() -> dict[str, Any]:
        if not waiting:
            await asyncio.sleep(3_600)
        return waiting.pop(0)

    async def send(message: dict[str, Any]) -> None:
        found.append(message)

    await asked({"type": "http", "method": method, "path": "/answers/abc", "headers": []}, receive, send)
    return found[0]["status"], json.loads(found[1]["body"])


def whole(text: str) -> dict[str, Any]:
    return {"type": "http.request", "body": json.dumps({"question": text}).encode(), "more_body": False}


def test_an_error_that_nobody_foresaw_tells_its_kind_only(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        status, found = asyncio.run(sent(AnswersRoute(lambda: Desk(Broken())), whole("ill")))
    assert (status, found) == (500, {"error": "The answer could not be computed (ValueError)."})
    assert SECRET not in caplog.text


def test_an_answer_that_failed_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Broken, "problem", Failed("The answer could not be computed (ValueError); nothing was spent."))
    status, found = asyncio.run(sent(AnswersRoute(lambda: Desk(Broken())), whole("ill")))
    assert (status, found["error"]) == (500, "The answer could not be computed (ValueError); nothing was spent.")


def test_a_body_that_does_not_arrive_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(route, "PATIENCE", 0.05)
    begun = {"type": "http.request", "body": b'{"question"', "more_body": True}
    assert asyncio.run(sent(AnswersRoute(lambda: Desk(Broken())), begun))[0] == 408
    assert asyncio.run(sent(AnswersRoute(lambda: Desk(Broken())), begun, {"type": "http.disconnect"}))[0] == 400


def test_a_few_requests_of_a_session_are_worked_on_at_once() -> None:
    go_on, begun = threading.Event(), threading.Semaphore(0)

    class Slow(Broken):
        @property
        def status(self) -> str:  # type: ignore[override]
            begun.release()
            assert go_on.wait(60)
            return "closed"

    async def many() -> list[int]:
        asked = AnswersRoute(lambda: Desk(Slow()))
        first = [asyncio.create_task(sent(asked, whole("ill"))) for _ in range(MOST_EACH)]
        for _ in range(MOST_EACH):
            await asyncio.to_thread(begun.acquire)
        refused = await sent(asked, whole("ill"))
        go_on.set()
        return [status for status, _ in [*await asyncio.gather(*first), refused, await sent(asked, whole("ill"))]]

    assert asyncio.run(many()) == [*[410] * MOST_EACH, 429, 410]
