"""What every test shares: a real browser where there is one, a workspace of its own, and no way out to the network."""

from __future__ import annotations

import ipaddress
import os
import shutil
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests import crossings

# Tests run in as many processes as there are cores: threads inside each would only wait for one another.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

# A busy machine is no defect: nothing here measures time. Where a change is judged, the same examples are tried every
# time; everywhere else new ones are.
settings.register_profile("patient", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("patient")

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
REQUIRE_BROWSER = "RELEASE_DESK_REQUIRE_BROWSER"
NO_BROWSER = f"no Chromium on PATH under the names {', '.join(BROWSERS)}; on Debian: apt install chromium"


def find_chromium() -> str | None:
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Before cases are chosen by their markers."""
    crossings.thin(items)


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("browser") is None or find_chromium() is not None:
        return
    if os.environ.get(REQUIRE_BROWSER) == "1":
        pytest.fail(f"{NO_BROWSER} ({REQUIRE_BROWSER} is set)", pytrace=False)
    pytest.skip(NO_BROWSER)


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """The Chromium to hand to Playwright as `executable_path`; tests that use it carry the marker `browser`."""
    path = find_chromium()
    assert path is not None, "a test that uses chromium_path needs the marker `browser`"
    return path


@pytest.fixture(scope="session", autouse=True)
def no_real_workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Nothing a test starts can touch the workspace of the person who runs it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RELEASE_DESK_HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty workspace folder, which is also where the dashboard looks during this test."""
    folder = tmp_path / "workspace"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("RELEASE_DESK_HOME", str(folder))
    return folder


def is_loopback(host: object) -> bool:
    """Whether the host of an address is this machine; any name but localhost would already ask a name server."""
    name = host.decode(errors="replace") if isinstance(host, bytes) else host
    if name in (None, "", "localhost"):
        return True
    try:
        return ipaddress.ip_address(str(name)).is_loopback
    except ValueError:
        return False


@pytest.fixture(scope="session", autouse=True)
def no_network() -> Iterator[None]:
    """Connecting or looking up a name beyond this machine fails, so that no test depends on the outside."""

    def guarded(method: Callable[..., Any]) -> Callable[..., Any]:
        def connect(self: socket.socket, address: Any) -> Any:
            if self.family in (socket.AF_INET, socket.AF_INET6) and not is_loopback(address[0]):
                raise ConnectionRefusedError("Tests may connect to this machine only.")
            return method(self, address)

        return connect

    look_up = socket.getaddrinfo

    def getaddrinfo(host: Any, *args: Any, **options: Any) -> Any:
        if not is_loopback(host):
            raise socket.gaierror(socket.EAI_FAIL, "Tests may look up this machine only.")
        return look_up(host, *args, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded(socket.socket.connect))
        patch.setattr(socket.socket, "connect_ex", guarded(socket.socket.connect_ex))
        patch.setattr(socket, "getaddrinfo", getaddrinfo)
        yield
