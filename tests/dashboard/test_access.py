"""Who is let in."""

from __future__ import annotations

from pathlib import Path

import pytest

import dashboard
from dashboard.views.common import access
from dashboard.views.common.access import demo, listed, local


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


def test_list_of_curators() -> None:
    assert listed("Ada@Clinic.example", ["ada@clinic.example"])
    assert not listed("eve@clinic.example", ["ada@clinic.example"])
    assert not listed("", [""])
    assert not listed(None, ["ada@clinic.example"])
    assert not listed("a", "ada@clinic.example")
    assert not listed("ada@clinic.example", None)


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
