"""Programs ask by HTTP: on a real server on this machine, with and without the right to."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from core import Budget, Desk, Unit, question
from dashboard.answers.client import AnswersClient
from dashboard.answers.route import MOST_BODY
from tests.dashboard.server import Server, serving
from tests.security.leaks import canary

STATEMENT = "SELECT ill, COUNT(*) AS n, AVG(age) FROM t GROUP BY ill"


@dataclass(frozen=True)
class Asked:
    """A server for visitors with two shared sessions, one of them closed, and one that is not shared any more."""

    server: Server
    desk: Desk
    tokens: dict[str, str]
    sessions: dict[str, str]

    def send(self, name: str, body: bytes | None, *, path: str = "", method: str = "POST", **headers: str) -> Any:
        """Status, content and headers of a response; every one is looked through."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        sent = {"Authorization": f"Bearer {self.tokens[name]}", **headers}
        connection.request(method, f"/answers/{self.sessions[name]}{path}", body, {k: v for k, v in sent.items() if v})
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        self.look_through(text)
        assert response.headers["Cache-Control"] == "no-store"
        return response.status, json.loads(text), response.headers

    def ask(self, name: str, text: object, **more: Any) -> Any:
        return self.send(name, json.dumps({"question": text}).encode(), **more)

    def look_through(self, text: str) -> None:
        assert not canary.hits(text)
        assert str(self.desk.folder) not in text
        assert "/home" not in text and ".py" not in text
        assert not any(token in text for token in self.tokens.values())


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    home = tmp_path_factory.mktemp("answers") / "home"
    desk = Desk(home)
    held = desk.add_table(canary.frame(), canary.DOMAIN, unit=Unit.row(), budget=Budget(9), name="people")
    tokens, sessions = {}, {}
    for edition, (name, rate) in enumerate({"open": 600, "slow": 3, "closed": 60, "hidden": 60}.items(), 1):
        session = desk.ask(held, mechanism="online-laplace", budget=Budget(1), questions=20, edition=edition)
        desk.share(session.id, title=f"Ask {name}")
        tokens[name], sessions[name] = desk.admit_machines(session.id, per_minute=rate), session.id
    desk.session(sessions["closed"]).close()
    desk.shared_items.take_down(sessions["hidden"])
    with serving(home, "--visitors") as server:
        found = Asked(server, desk, tokens, sessions)
        yield found
        found.look_through(server.log.read_text(errors="replace").replace(str(Path(home).parent), ""))
    desk.close()


@pytest.mark.exhaustive
def test_a_formula_and_a_statement_are_answered_as_the_page_would(asked: Asked) -> None:
    session = asked.desk.session(asked.sessions["open"])
    status, found, _ = asked.ask("open", "age >= 40 or ill")
    assert status == 200
    answer = session.answer(question("age >= 40 or ill", session.domain))
    assert (found["share"], found["count"], found["kind"], found["left"]) == (answer.share, answer.count, "hard", 19)
    assert found["count_interval"] == list(answer.count_interval or ())
    assert found.keys() == {"number", "question", "share", "share_interval", "count", "count_interval", "kind", "left"}
    before = len(session.transcript())
    status, price, _ = asked.ask("open", STATEMENT, path="/price")
    assert (status, price["groups"], price["questions"]) == (200, 2, 6)
    assert len(session.transcript()) == before
    status, table, _ = asked.ask("open", STATEMENT)
    assert (status, table["columns"], table["titles"]) == (200, ["ill"], ["n", "AVG(age)"])
    assert [row["labels"] for row in table["rows"]] == [["false"], ["true"]]
    assert table["rows"][0]["numbers"][0].keys() == {"value", "low", "high", "confidence"}
    assert len(session.transcript()) == before + table["questions"]
    assert asked.ask("open", STATEMENT)[1] == table, "again for free"


def test_the_client_asks(asked: Asked) -> None:
    address = f"{asked.server.address}/answers/{asked.sessions['open']}"
    client = AnswersClient(address, asked.tokens["open"])
    about = client.about()
    assert (about["title"], about["status"], about["per_minute"]) == ("Ask open", "open", 600)
    assert [column["name"] for column in about["columns"]] == list(canary.DOMAIN.names)
    assert client.price("ill")["questions"] == 1
    assert 0 <= client.ask("ill")["share"] <= 1
    assert asked.tokens["open"] not in repr(client)
    with pytest.raises(RuntimeError, match=r"422: .*there is no column 'salary'"):
        client.ask("salary > 3")
    with pytest.raises(RuntimeError, match=r"401: .*This token does not open a session here"):
        AnswersClient(address, "wrong").ask("ill")


WRONG = ["", "Bearer", "Bearer ", "Bearer wrong", "Basic {token}", "Bearer {token}x", "{token}", "Bearer {closed}"]


@pytest.mark.parametrize("brought", WRONG)
def test_a_wrong_token_opens_nothing(asked: Asked, brought: str) -> None:
    header = brought.format(token=asked.tokens["open"], closed=asked.tokens["closed"])
    before = len(asked.desk.session(asked.sessions["open"]).transcript())
    status, found, headers = asked.ask("open", "ill", Authorization=header)
    assert (status, headers["WWW-Authenticate"]) == (401, "Bearer")
    assert found == {"error": "This token does not open a session here."}
    assert len(asked.desk.session(asked.sessions["open"]).transcript()) == before


@pytest.mark.parametrize("name", ["0" * 32, "..", "%2e%2e", "A", "a" * 70])
def test_no_session_looks_like_a_wrong_token(asked: Asked, name: str) -> None:
    elsewhere = Asked(asked.server, asked.desk, asked.tokens, {"open": name})
    assert elsewhere.ask("open", "ill")[:2] == asked.ask("open", "ill", Authorization="Bearer x")[:2]


@pytest.mark.parametrize("name", ["closed", "hidden"])
def test_a_session_that_is_closed_or_taken_down_is_gone(asked: Asked, name: str) -> None:
    for path in ("", "/price"):
        status, found, _ = asked.ask(name, "ill", path=path)
        assert (status, found) == (
            410,
            {"error": "This session is closed or no longer shared; it takes no more questions."},
        )
    assert asked.send(name, None, method="GET")[0] == 410
    assert asked.desk.session(asked.sessions[name]).transcript() == []


MALFORMED = [
    b"", b"ill", b"[]", b"{}", b'"ill"', b"null", b'{"question": 3}', b'{"question": null}', b"\xff\xfe", b"[" * 9_000,
    b'{"question": "ill", "path": "x"}', b'{"Question": "ill"}', b'{"question": ["ill"]}', b"NaN",
]  # fmt: skip


@pytest.mark.parametrize("body", MALFORMED)
def test_what_is_no_question_is_refused(asked: Asked, body: bytes) -> None:
    status, found, _ = asked.send("open", body)
    assert (status, found) == (400, {"error": 'Send JSON such as {"question": "age >= 65"}.'})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "age >=",
        "salary = 3",
        "SELECT * FROM t",
        "SELECT MAX(age) FROM t",
        "DROP TABLE t",
        "x" * 3_000,
        "\ud800",
        "\0",
    ],
)
def test_what_cannot_be_answered_is_one_sentence(asked: Asked, text: str) -> None:
    for path in ("", "/price"):
        status, found, _ = asked.ask("open", text, path=path)
        assert status == 422
        assert found["error"].startswith("question: ") and found["error"].isprintable()


def test_a_body_that_is_too_large_is_not_read(asked: Asked) -> None:
    large = json.dumps({"question": "ill or " * 10_000}).encode()
    for announced in (str(len(large)), str(10**30), "-1", "x"):
        connection = http.client.HTTPConnection("127.0.0.1", asked.server.port, timeout=60)
        connection.putrequest("POST", f"/answers/{asked.sessions['open']}")
        connection.putheader("Authorization", f"Bearer {asked.tokens['open']}")
        connection.putheader("Content-Length", announced)
        connection.endheaders()
        response = connection.getresponse()
        # The server itself refuses what is no length.
        assert response.status in ((413,) if announced.isdigit() and len(announced) < 20 else (400, 413))
        connection.close()
    pieces = (large[start : start + 4_096] for start in range(0, len(large), 4_096))
    connection = http.client.HTTPConnection("127.0.0.1", asked.server.port, timeout=60)
    header = {"Authorization": f"Bearer {asked.tokens['open']}"}
    # The answer may come, and the connection end, while pieces are still being sent.
    with suppress(BrokenPipeError, ConnectionResetError):
        connection.request("POST", f"/answers/{asked.sessions['open']}", pieces, header, encode_chunked=True)
    assert connection.getresponse().status == 413
    connection.close()
    assert len(large) > MOST_BODY


def test_only_what_is_offered_is_answered(asked: Asked) -> None:
    assert asked.send("open", None, method="DELETE")[0] == 405
    assert asked.send("open", None, method="GET", path="/price")[0] == 405
    assert asked.ask("open", "ill", path="/other")[0] == 404
    connection = http.client.HTTPConnection("127.0.0.1", asked.server.port, timeout=60)
    headers = {"Authorization": f"Bearer {asked.tokens['open']}", "Origin": "https://elsewhere.test"}
    connection.request("POST", f"/answers/{asked.sessions['open']}", b'{"question": "ill"}', headers)
    assert connection.getresponse().status == 403, "no page of another origin asks with it"
    connection.close()


@pytest.mark.exhaustive
def test_the_rate_is_kept(asked: Asked) -> None:
    statuses = [asked.ask("slow", "ill")[0] for _ in range(3)]
    status, found, headers = asked.ask("slow", "ill")
    assert (statuses, status) == ([200] * 3, 429)
    assert found == {"error": "This key may ask 3 questions a minute; wait before the next."}
    assert 1 <= int(headers["Retry-After"]) <= 20
    assert asked.ask("open", "ill")[0] == 200, "others are not held up"


@pytest.mark.exhaustive
def test_a_key_that_was_withdrawn_opens_nothing(asked: Asked) -> None:
    asked.desk.machine_keys.withdraw(asked.sessions["hidden"])
    assert asked.ask("hidden", "ill")[0] == 401
