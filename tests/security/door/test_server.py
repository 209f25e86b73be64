"""The dashboard as it is served: what strangers may send, what they are shown, and how many of them it bears."""

from __future__ import annotations

import asyncio
import http.client
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from core import Budget, Desk, Domain, Marginals, Unit
from core.schema.domain import Booleans, Integers
from tests.dashboard.server import Server, plain_streamlit, serving
from tests.security.door.visitors import PATIENCE, crowd, visit

CURATORS = {"Data", "Release", "Ask", "Accuracy", "Budget"}
EVERYBODYS = {"Shared", "Limits", "Help"}
MEGABYTE = 1 << 20
STRANGERS = {
    "another name of this machine": ("desk.test", {}),
    "a name that begins like ours": ("127.0.0.1.desk.test", {}),
    "a proxy": ("127.0.0.1", {"X-Forwarded-For": "203.0.113.9"}),
    "a proxy that says it is us": ("127.0.0.1", {"X-Forwarded-For": "127.0.0.1"}),
    "a standard proxy": ("127.0.0.1", {"Forwarded": "for=203.0.113.9"}),
    "a named proxy": ("localhost", {"Via": "1.1 proxy"}),
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A desk that shares one release."""
    home = tmp_path_factory.mktemp("server") / "home"
    desk = Desk(home)
    frame = pd.DataFrame({"age": range(100), "ill": [True, False] * 50})
    domain = Domain((Integers(name="age", low=0, high=99, bins=5), Booleans(name="ill")))
    held = desk.add_table(frame, domain, unit=Unit.row(), budget=Budget(2), name="small")
    plan = desk.plan(held, [Marginals(order=2)], mechanism="laplace", budget=Budget(1))
    desk.release(plan)
    desk.share(plan.id, title="Visits by age")
    desk.close()
    with serving(home, "--host", "127.0.0.1.desk.test") as running:
        yield running


@pytest.fixture(scope="module")
def careless(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The mutant: no tokens, statistics and an interface for programs, and everybody is a curator, as in a demo."""
    options = ("--server.enableXsrfProtection", "false", "--server.enableCORS", "false")
    more = ("--browser.gatherUsageStats", "true", "--server.enableAgentApi", "true")
    home = tmp_path_factory.mktemp("careless") / "home"
    with plain_streamlit(home, *options, *more, RELEASE_DESK_DEMO="1") as running:
        yield running


def answer(server: Server, method: str, path: str, body: bytes = b"", **headers: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    connection.request(method, path, body, headers)
    response = connection.getresponse()
    response.read()
    connection.close()
    return response


UPLOAD = "/_stcore/upload_file/0123abcd/4567ef01"
PART = b'Content-Disposition: form-data; name="file"; filename="../../people.csv"'
FORM = b"\r\n".join((b"--line", PART, b"", b"a,b\n1,x", b"--line--", b""))
KIND = {"Content-Type": "multipart/form-data; boundary=line"}
JSON = {"Content-Type": "application/json"}


def test_an_upload_without_a_token_is_forbidden(server: Server) -> None:
    for method in ("PUT", "DELETE"):
        assert answer(server, method, UPLOAD, FORM, **KIND).status == 403
        assert answer(server, method, UPLOAD, FORM, **KIND, **{"X-Xsrftoken": "2|a|b|1"}).status == 403
    token = _token(server)
    only_cookie = {"Cookie": f"_streamlit_xsrf={token}"}
    assert answer(server, "PUT", UPLOAD, FORM, **KIND, **only_cookie).status == 403
    assert answer(server, "PUT", UPLOAD, FORM, **KIND, **{"X-Xsrftoken": token}).status == 403
    both = {**only_cookie, "X-Xsrftoken": token}
    assert answer(server, "PUT", UPLOAD, FORM, **KIND, **both).status == 403, "the token is right, the session is not"
    assert not list(server.home.rglob("*people*"))


def _token(server: Server) -> str:
    cookie = answer(server, "GET", "/_stcore/health").headers["Set-Cookie"]
    return str(cookie.partition("_streamlit_xsrf=")[2].partition(";")[0].strip('"'))


@pytest.mark.exhaustive
def test_a_server_without_tokens_is_caught(careless: Server) -> None:
    assert answer(careless, "PUT", UPLOAD, FORM, **KIND).status != 403


def test_settings_as_designed(server: Server) -> None:
    # Whatever is not served is answered by the empty page that every visit starts with, or refused.
    for path in (
        "/_stcore/agent/interact", "/_stcore/agent/mcp", "/app/static/secret.txt", "/app/static/",
        "/../pyproject.toml", "/..%2fpyproject.toml", "/static/../../../../etc/passwd", "/media/../app.py",
    ):  # fmt: skip
        response = answer(server, "GET", path)
        assert response.status != 200 or response.headers["Content-Type"].startswith("text/html"), path
    assert answer(server, "POST", "/_stcore/agent/interact", b"{}", **JSON).status in (403, 404)
    foreign = answer(server, "GET", "/_stcore/health", Origin="http://attacker.example")
    assert foreign.headers.get("Access-Control-Allow-Origin") in (None, "")
    seen = asyncio.run(visit(server))
    assert not seen.statistics


@pytest.mark.exhaustive
def test_other_settings_are_caught(careless: Server) -> None:
    foreign = answer(careless, "GET", "/_stcore/health", Origin="http://attacker.example")
    assert foreign.headers.get("Access-Control-Allow-Origin") not in (None, "")
    assert asyncio.run(visit(careless)).statistics
    assert answer(careless, "POST", "/_stcore/agent/interact", b"{}", **JSON).status not in (403, 404)


def test_only_this_machine_is_listened_to(server: Server) -> None:
    listening = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    own = [line[1] for line in listening if line[1].endswith(f":{server.port:04X}") and line[3] == "0A"]
    assert [place.partition(":")[0] for place in own] == ["0100007F"]


def test_a_curator_at_this_machine_sees_every_page(server: Server) -> None:
    seen = asyncio.run(visit(server, "budget", headers=server.cookie))
    assert seen.pages >= CURATORS | EVERYBODYS
    assert seen.titles == ["Budget"]
    assert not seen.errors


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=2)
@pytest.mark.parametrize("key", [False, True])
@pytest.mark.parametrize("who", STRANGERS)
def test_a_stranger_sees_what_is_shared(server: Server, who: str, key: bool) -> None:
    """Without a login the key is good at this machine only."""
    host, headers = STRANGERS[who]
    headers = headers | (server.cookie if key else {})
    for page in ("", "budget", "data", "accuracy"):
        seen = asyncio.run(visit(server, page, host=host, headers=headers))
        assert seen.finished
        assert seen.pages == EVERYBODYS
        assert set(seen.titles) <= EVERYBODYS
        assert str(server.home) not in seen.text


@pytest.mark.exhaustive
def test_a_stranger_who_is_let_in_is_caught(careless: Server) -> None:
    seen = asyncio.run(visit(careless, host="desk.test"))
    assert seen.pages & CURATORS


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("size", "growth"), [(20, 300 * MEGABYTE), pytest.param(200, 500 * MEGABYTE, marks=pytest.mark.slow)]
)
def test_a_crowd_opens_what_is_shared(server: Server, size: int, growth: int) -> None:
    asyncio.run(crowd(server, 5, "shared"))
    before = server.memory()
    for _ in range(2):
        seen = asyncio.run(crowd(server, size, "shared"))
        assert len(seen) == size
        assert all(one.finished and one.titles == ["Shared"] for one in seen)
        assert [one.errors for one in seen if one.errors] == []
        assert all("Visits by age" in one.text and one.pages == EVERYBODYS for one in seen)
    # Sessions that were left are kept for a while, so memory may grow with the crowd, but not without end.
    assert server.memory() - before < growth
    assert server.process.poll() is None
