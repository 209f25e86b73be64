"""Who is let in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import dashboard
from dashboard.door import access
from dashboard.door.access import demo, listed, local
from dashboard.door.key import cookie_name, key


@pytest.mark.parametrize("host", ["localhost:8501", "127.0.0.1:8501", "[::1]:8501", "127.0.0.1", "LOCALHOST"])
def test_visitors_at_this_machine(host: str) -> None:
    assert local(None, {"Host": host})
    assert local("127.0.0.2", {"host": host})


@pytest.mark.parametrize(
    ("address", "headers"),
    [
        ("192.168.1.7", {"Host": "localhost:8501"}),
        ("2001:db8::1", {"Host": "localhost:8501"}),
        ("not an address", {"Host": "localhost:8501"}),
        (None, {"Host": "desk.example:8501"}),
        (None, {"Host": "localhost.example"}),
        (None, {"Host": "127.0.0.1.example"}),
        (None, {"Host": "localhost:8501", "X-Forwarded-For": "203.0.113.9"}),
        (None, {"Host": "localhost:8501", "x-real-ip": "127.0.0.1"}),
        (None, {"Host": "localhost:8501", "Forwarded": "for=203.0.113.9"}),
    ],
)
def test_everybody_else(address: str | None, headers: dict[str, str]) -> None:
    assert not local(address, headers)


ADA = {"email": "Ada@Clinic.example", "email_verified": True, "iss": "https://login.example", "sub": "1234"}
BY_ACCOUNT = [{"issuer": "https://login.example", "subject": "1234"}]


def test_list_of_curators() -> None:
    assert listed(ADA, ["ada@clinic.example"])
    assert listed(ADA, ["eve@clinic.example", " ADA@clinic.example "])
    assert not listed(ADA | {"email": "eve@clinic.example"}, ["ada@clinic.example"])
    assert not listed(ADA | {"email": ""}, [""])
    assert not listed(ADA | {"email": None}, ["ada@clinic.example", None])
    assert not listed(ADA | {"email": "a"}, "ada@clinic.example")
    assert not listed(ADA, None)
    assert not listed(ADA, [])


@pytest.mark.parametrize("verified", [None, False, 0, 1, "", "false", "true", "True", [True], ...])
def test_an_address_that_is_not_verified_makes_no_curator(verified: object) -> None:
    claims = {name: value for name, value in ADA.items() if name != "email_verified"}
    if verified is not ...:
        claims["email_verified"] = verified
    assert not listed(claims, ["ada@clinic.example"])
    assert listed(claims, BY_ACCOUNT), "the account is named, not its address"


@pytest.mark.parametrize(
    "curator",
    [
        {"issuer": "https://login.example", "subject": "12345"},
        {"issuer": "https://other.example", "subject": "1234"},
        {"issuer": "https://login.example"},
        {"subject": "1234"},
        {"issuer": "", "subject": ""},
        {},
    ],
)
def test_accounts_are_named_by_issuer_and_subject(curator: dict[str, str]) -> None:
    assert listed(ADA, BY_ACCOUNT)
    assert not listed(ADA, [curator])
    assert not listed(ADA, curator)
    assert not listed({"email": "", "email_verified": True}, [curator]), "what is missing on both sides is not equal"


class Context:
    """What Streamlit knows of a visitor who sits at this machine and brings these cookies."""

    def __init__(self, cookies: dict[str, str]) -> None:
        self.ip_address, self.headers, self.cookies = None, {"Host": "localhost:8501"}, cookies


@pytest.fixture
def arrives(monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """The role of somebody with these cookies, or with these claims where a login is configured."""
    monkeypatch.delenv("RELEASE_DESK_DEMO", raising=False)
    monkeypatch.delenv("RELEASE_DESK_ROLE", raising=False)

    def role(cookies: dict[str, str], claims: object = None, section: object = None) -> str:
        monkeypatch.setattr(access.st, "context", Context(cookies))
        monkeypatch.setattr(access.st, "user", claims)
        monkeypatch.setattr(access, "login_section", lambda: section)
        return access.role()

    return role


def test_the_key_makes_a_curator(arrives: Callable[..., str]) -> None:
    name, secret = cookie_name(), key().secret
    assert arrives({name: secret}) == "curator"
    wrong = ({}, {name: ""}, {name: secret[:-1]}, {name: secret + "a"}, {name: "é"}, {"release-desk-1": secret})
    assert [arrives(cookies) for cookies in wrong] == ["visitor"] * len(wrong)


def test_a_login_decides_alone(arrives: Callable[..., str]) -> None:
    section = {"curators": ["ada@clinic.example"]}
    known = ADA | {"is_logged_in": True}
    assert arrives({}, known, section) == "curator"
    assert arrives({cookie_name(): key().secret}, {"is_logged_in": False}, section) == "visitor"
    assert arrives({}, known | {"is_logged_in": False}, section) == "visitor"
    assert arrives({}, known | {"email_verified": "true"}, section) == "visitor"


@pytest.mark.parametrize("value", ["visitor", "Visitor ", "visitors", "nobody"])
def test_a_server_for_visitors_has_no_curators(
    arrives: Callable[..., str], monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("RELEASE_DESK_ROLE", value)
    cookies = {cookie_name(): key().secret}
    assert arrives(cookies) == "visitor"
    assert arrives(cookies, ADA | {"is_logged_in": True}, {"curators": BY_ACCOUNT}) == "visitor"
    monkeypatch.setenv("RELEASE_DESK_DEMO", "1")
    assert arrives(cookies) == "visitor"
    assert not demo(), "the shared workspace is shown, not one that is thrown away"


@pytest.mark.parametrize(("value", "expected"), [("1", True), ("true", True), ("0", False), ("", False)])
def test_demo_mode(monkeypatch: pytest.MonkeyPatch, value: str, expected: bool) -> None:
    monkeypatch.setenv("RELEASE_DESK_DEMO", value)
    assert demo() is expected


def test_no_page_can_run_without_the_entry_point() -> None:
    """Streamlit runs whatever lies in a folder called `pages` by its address, past the entry point's check."""
    assert not (Path(dashboard.__file__).parent / "pages").exists()


def test_a_hosted_demo_is_recognised_by_its_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RELEASE_DESK_DEMO", raising=False)
    assert not demo()
    monkeypatch.setattr(access, "HOSTED", Path(access.__file__).resolve().parents[3])
    assert demo()
    monkeypatch.setenv("RELEASE_DESK_DEMO", "0")
    assert not demo()
