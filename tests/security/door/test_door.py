"""Who gets to the curator's pages: whoever holds the key of this start, at this machine, and nobody else."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
from collections.abc import AsyncIterator, Iterator
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from core import Budget, Desk, Domain, Marginals, Unit
from core.schema.domain import Booleans, Integers
from dashboard.door import gate
from dashboard.door.key import key
from tests.dashboard import listed
from tests.dashboard.server import STRANGER, Server, plain_streamlit, serving
from tests.security.door.proxies import NOBODY, forwarder, nginx
from tests.security.door.visitors import PATIENCE, refused, visit

CURATORS, EVERYBODYS = set(listed.CURATORS.values()), set(listed.EVERYBODYS.values())
EXACT = "These figures are exact and private"
"""What stands above exact counts."""


def prepare(home: Path) -> None:
    """A desk that shares one release and one session."""
    desk = Desk(home)
    frame = pd.DataFrame({"age": range(100), "ill": [True, False] * 50})
    domain = Domain((Integers(name="age", low=0, high=99, bins=5), Booleans(name="ill")))
    held = desk.add_table(frame, domain, unit=Unit.row(), budget=Budget(4, "1e-9"), name="small")
    plan = desk.plan(held, [Marginals(order=2)], mechanism="laplace", budget=Budget("0.001"))
    desk.release(plan)
    desk.share(plan.id, title="Visits by age")
    session = desk.ask(held, mechanism="online-laplace", budget=Budget(1, "1e-9"), questions=50)
    desk.share(session.id, title="Ask us")
    desk.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    home = tmp_path_factory.mktemp("door") / "home"
    prepare(home)
    with serving(home) as running:
        yield running


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The mutant: the same pages without the command, so without the gate; everybody is a curator, as in a demo."""
    with plain_streamlit(tmp_path_factory.mktemp("bare") / "home", RELEASE_DESK_DEMO="1") as running:
        yield running


def ask(server: Server, path: str, *, at: str = "127.0.0.1", **headers: str) -> tuple[Any, str]:
    connection = http.client.HTTPConnection(at, server.port, timeout=PATIENCE)
    connection.request("GET", path, headers=headers)
    response = connection.getresponse()
    text = response.read().decode(errors="replace")
    connection.close()
    return response, text


def seen_by(server: Server, page: str = "", **how: Any) -> set[str]:
    seen = asyncio.run(visit(server, page, **how))
    assert seen.finished
    assert EXACT not in seen.text or seen.pages > EVERYBODYS
    return seen.pages


def sees_what_is_shared_only(server: Server, **how: Any) -> bool:
    return all(seen_by(server, page, **how) == EVERYBODYS for page in ("", "data", "accuracy", "budget"))


# The key


@pytest.mark.exhaustive
def test_the_link_becomes_a_cookie_and_leaves_the_address(server: Server) -> None:
    response, _ = ask(server, f"/plan?a=1&token={server.key}&b=%26")
    assert (response.status, response.headers["Location"]) == (303, "/plan?a=1&b=%26")
    [(name, morsel)] = SimpleCookie(response.headers["Set-Cookie"]).items()
    assert name == f"release-desk-{server.port}"
    assert morsel["httponly"]
    assert (morsel["samesite"], morsel["path"], morsel["max-age"]) == ("Strict", "/", "")
    assert response.headers["Cache-Control"] == "no-store"
    assert response.headers["Referrer-Policy"] == "no-referrer"
    assert seen_by(server, headers={"Cookie": f"{name}={morsel.value}"}) >= CURATORS


@pytest.mark.parametrize(("scheme", "secure"), [("https", True), ("http", False)])
def test_where_there_is_https_the_cookie_is_sent_nowhere_else(scheme: str, secure: bool) -> None:
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    asked = {"scheme": scheme, "path": "/", "query_string": b"", "headers": []}
    asyncio.run(gate._enter(asked, send, key().secret))
    cookie = dict(sent[0]["headers"])[b"set-cookie"].decode()
    assert cookie.endswith("; Secure") is secure


@pytest.mark.crossing(keep=1)
@pytest.mark.parametrize("wrong", ["", "x", "{key}a", "%C3%A9", "{key}&token=x"])
def test_a_wrong_link_leads_to_what_is_shared(server: Server, wrong: str) -> None:
    response, _ = ask(server, f"/?token={wrong.format(key=server.key)}")
    assert (response.status, response.headers["Location"]) == (303, "/")
    assert "Set-Cookie" not in response.headers


@pytest.mark.parametrize("path", ["//evil.example/", "/%2Fevil.example/", "/%5Cevil.example", "///evil.example"])
def test_the_link_leads_nowhere_else(server: Server, path: str) -> None:
    response, _ = ask(server, f"{path}?token={server.key}")
    place = response.headers["Location"]
    assert place.startswith("/")
    assert not place.startswith(("//", "/\\"))


@pytest.mark.crossing(keep=2)
@pytest.mark.parametrize("cookies", ["", "release-desk-{port}=", "release-desk-{port}=x", "release-desk-1={key}"])
def test_without_the_key_pages_are_what_is_shared(server: Server, cookies: str) -> None:
    offered = cookies.format(port=server.port, key=server.key)
    assert sees_what_is_shared_only(server, headers={"Cookie": offered} if offered else {})


def test_with_the_key_exact_counts_are_shown(server: Server) -> None:
    """What the tests around this one look for is there to be found."""
    seen = asyncio.run(visit(server, "accuracy", headers=server.cookie))
    assert seen.titles == ["Accuracy"]
    assert EXACT in seen.text


def test_the_key_is_written_once(server: Server) -> None:
    """In the printed link: not in a request log, not on the command line, not below the workspace."""
    ask(server, f"/?token={server.key}")
    seen_by(server, headers=server.cookie)
    assert server.log.read_text().count(server.key) == 1
    assert server.key not in Path(f"/proc/{server.process.pid}/cmdline").read_text()
    assert server.key not in Path(f"/proc/{server.process.pid}/environ").read_text()
    kept = [path for path in server.home.rglob("*") if path.is_file()]
    assert kept
    assert not [path for path in kept if server.key.encode() in path.read_bytes()]


@pytest.mark.exhaustive
def test_every_start_has_a_key_of_its_own(server: Server, tmp_path: Path) -> None:
    with serving(tmp_path / "home") as another:
        assert another.key != server.key
        foreign = {"Cookie": f"release-desk-{another.port}={server.key}"}
        assert seen_by(another, headers=foreign) == EVERYBODYS


@pytest.mark.exhaustive
def test_a_message_that_never_ends_is_cut_off(server: Server) -> None:
    """Whoever is let in as a visitor could otherwise fill the memory with pieces of one message."""

    sent = []

    async def endless() -> AsyncIterator[bytes]:
        for _ in range(60):
            sent.append(1_000_000)
            yield bytes(1_000_000)
        for _ in range(100):
            sent.append(4)
            yield b"more"
            await asyncio.sleep(0.1)

    async def send() -> int | None:
        uri = f"ws://127.0.0.1:{server.port}/_stcore/stream"
        async with connect(uri, proxy=None, ping_interval=None, max_size=None) as socket:
            with pytest.raises(ConnectionClosed) as closed:
                await socket.send(endless())
            return closed.value.rcvd.code if closed.value.rcvd else None

    # The words of the refusal may be lost where the connection ends while pieces are still on their way.
    assert asyncio.run(send()) in (1009, None)
    assert len(sent) < 160, "cut off before its end"
    assert seen_by(server) == EVERYBODYS, "and the server goes on"


# Where a request comes from

ORIGINS = (
    "http://localhost:3000",
    "http://127.0.0.1:3000",
    "http://localhost:{port}",
    "http://127.0.0.1",
    "http://127.0.0.1:{port}.evil.example",
    "http://evil.example/127.0.0.1:{port}",
    "http://user@127.0.0.1:{port}",
    "http://[::1",
    "null",
    "",
)


@pytest.mark.crossing(keep=3)
@pytest.mark.parametrize("origin", ORIGINS)
def test_other_pages_are_not_talked_to(server: Server, origin: str) -> None:
    """A page at another port of this machine is sent the curator's cookies by the browser."""
    headers = server.cookie | {"Origin": origin.format(port=server.port)}
    assert asyncio.run(refused(server, headers=headers))
    for path in ("/", "/_stcore/health", "/_stcore/host-config"):
        assert ask(server, path, **headers)[0].status == 403


def test_our_own_page_is_talked_to(server: Server) -> None:
    own = server.cookie | {"Origin": f"http://127.0.0.1:{server.port}"}
    assert seen_by(server, headers=own) >= CURATORS
    other = server.cookie | {"Origin": f"http://localhost:{server.port}"}
    assert seen_by(server, headers=other, host="localhost") >= CURATORS


@pytest.mark.exhaustive
def test_without_the_gate_other_pages_are_talked_to(bare: Server) -> None:
    assert not asyncio.run(refused(bare, headers={"Origin": "http://localhost:3000"}))


@pytest.mark.exhaustive
@pytest.mark.crossing(keep=2)
@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "evil.localhost", "127.0.0.2", "0.0.0.0"],
)
def test_other_names_of_this_machine_are_not_answered(server: Server, host: str) -> None:
    """A name that is made to lead here after its page was loaded brings the browser, but not the pages."""
    assert asyncio.run(refused(server, host=host, headers=server.cookie))


def test_a_name_that_is_allowed_is_a_visitors(server: Server) -> None:
    assert sees_what_is_shared_only(server, host=STRANGER, headers=server.cookie)


def test_two_hosts_or_two_origins_are_refused(server: Server) -> None:
    for name, values in (("Host", ("127.0.0.1", "localhost")), ("Origin", (server.address, server.address))):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
        connection.putrequest("GET", "/_stcore/health", skip_host=name == "Host")
        for value in values:
            connection.putheader(name, value)
        connection.endheaders()
        assert connection.getresponse().status in (400, 403)
        connection.close()


@pytest.mark.exhaustive
def test_the_sixth_version_of_addresses(server: Server, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="refused"):
        ask(server, "/", at="::1")
    prepare(tmp_path / "home")
    with serving(tmp_path / "home", "--address", "::1", host="[::1]") as sixth:
        assert f"http://[::1]:{sixth.port}/?token=" in sixth.log.read_text()
        assert sees_what_is_shared_only(sixth, at="::1", host="[::1]")
        assert seen_by(sixth, at="::1", host="[::1]", headers=sixth.cookie) >= CURATORS
        assert asyncio.run(refused(sixth, at="::1", host="[::2]", headers=sixth.cookie))


# Who stands between


def test_another_user_of_the_machine(server: Server) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can run a program as another user")
    with forwarder(server.port, user=NOBODY) as port:
        assert sees_what_is_shared_only(server, port=port, host="localhost")


def test_a_forwarder_that_adds_nothing(server: Server) -> None:
    """Nothing tells its visitors from the curator but the key."""
    with forwarder(server.port, user=None) as port:
        assert sees_what_is_shared_only(server, port=port)
        assert seen_by(server, port=port, headers=server.cookie) >= CURATORS


PROXIES = {
    "says for whom": ("X-Forwarded-For $remote_addr", "Host localhost"),
    "says its own name": ("Via nginx", "Host localhost"),
    "passes the name on": ("Host $http_host",),
    "says nothing": (),
    "says that it is us": ("Host localhost", 'X-Forwarded-For ""', 'X-Real-IP ""'),
}

KNOWN = ("says for whom", "says its own name")


@pytest.mark.crossing(keep=1)
@pytest.mark.parametrize("proxy", PROXIES)
def test_nginx(server: Server, tmp_path: Path, proxy: str) -> None:
    with nginx(tmp_path / "nginx", server.port, *PROXIES[proxy]) as port:
        for host in (STRANGER, "127.0.0.1", "localhost"):
            assert sees_what_is_shared_only(server, port=port, host=host)
        if proxy in KNOWN:
            assert sees_what_is_shared_only(server, port=port, headers=server.cookie)
        else:
            assert seen_by(server, port=port, headers=server.cookie) >= CURATORS, "told apart by the key alone"


# With a login

LOGIN = """
[auth]
redirect_uri = "http://127.0.0.1:{port}/oauth2callback"
cookie_secret = "only for this test"
client_id = "desk"
client_secret = "nothing"
server_metadata_url = "http://127.0.0.1:9/none"
curators = ["ada@clinic.example", {{ issuer = "https://login.example", subject = "1234" }}]
"""
CLAIMS = {
    "verified": ({"email": "ada@clinic.example", "email_verified": True}, True),
    "an account": ({"iss": "https://login.example", "sub": "1234"}, True),
    "not said": ({"email": "ada@clinic.example"}, False),
    "nothing said": ({"email": "ada@clinic.example", "email_verified": None}, False),
    "zero": ({"email": "ada@clinic.example", "email_verified": 0}, False),
    "a text": ({"email": "ada@clinic.example", "email_verified": "false"}, False),
    "somebody else": ({"email": "eve@clinic.example", "email_verified": True}, False),
    "another account": ({"iss": "https://login.example", "sub": "4321"}, False),
}


@pytest.fixture(scope="module")
def login(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("login")
    (folder / ".streamlit").mkdir()
    (folder / ".streamlit" / "secrets.toml").write_text(LOGIN.format(port=8501))
    prepare(folder / "home")
    with serving(folder / "home") as running:
        yield running


def logged_in(server: Server, claims: dict[str, Any]) -> dict[str, Any]:
    """What a browser sends after the provider has sent it back with these claims."""
    said = claims | {"origin": server.address, "is_logged_in": True}
    signed = create_signed_value("only for this test", "_streamlit_user", json.dumps(said)).decode()
    response, _ = ask(server, "/_stcore/health")
    token = response.headers["Set-Cookie"].partition("_streamlit_xsrf=")[2].partition(";")[0]
    headers = {"Cookie": f"_streamlit_user={signed}; _streamlit_xsrf={token}", "Origin": server.address}
    return {"headers": headers, "protocols": (token,)}


@pytest.mark.exhaustive
@pytest.mark.parametrize("claims", CLAIMS)
def test_the_provider_says_who_is_a_curator(login: Server, claims: str) -> None:
    said, curator = CLAIMS[claims]
    assert (seen_by(login, **logged_in(login, said)) >= CURATORS) is curator


@pytest.mark.exhaustive
def test_with_a_login_there_is_no_key(login: Server) -> None:
    assert "token" not in login.log.read_text()
    assert sees_what_is_shared_only(login)


# A server for visitors


@pytest.fixture(scope="module", params=["option", "variable"])
def visitors(request: pytest.FixtureRequest, server: Server) -> Iterator[Server]:
    """Beside the curator's server, on the same workspace."""
    words, more = (("--visitors",), {}) if request.param == "option" else ((), {"RELEASE_DESK_ROLE": "visitor"})
    with serving(server.home, *words, **more) as running:
        yield running


@pytest.mark.exhaustive
def test_a_server_for_visitors_has_no_other_pages(server: Server, visitors: Server) -> None:
    assert "token" not in visitors.log.read_text()
    keys = [{}, {"Cookie": f"release-desk-{visitors.port}={server.key}"}]
    for headers in keys:
        assert sees_what_is_shared_only(visitors, headers=headers)
        assert sees_what_is_shared_only(visitors, headers=headers, host=STRANGER)
    seen = asyncio.run(visit(visitors, "shared"))
    assert not seen.errors
    assert "Visits by age" in seen.text
    assert "Ask us" in seen.text
    assert str(server.home) not in asyncio.run(visit(visitors, "help")).text


@pytest.mark.exhaustive
def test_its_file_names_no_page_of_the_curators() -> None:
    text = (Path(__file__).parents[3] / "dashboard" / "visitors_app.py").read_text()
    assert not [page for page in CURATORS if f"steps/{page.lower()}" in text]


@pytest.mark.exhaustive
def test_without_the_command_nobody_is_a_curator(tmp_path: Path) -> None:
    prepare(tmp_path / "home")
    with plain_streamlit(tmp_path / "home") as running:
        assert sees_what_is_shared_only(running)
        assert not asyncio.run(visit(running)).statistics, "the settings are found from any folder"
