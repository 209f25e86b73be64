"""What every test shares: a real browser where there is one, a workspace of its own, and no way out to the network."""

from __future__ import annotations

import gc
import ipaddress
import os
import shutil
import socket
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests import crossings
from tests.databases import RUNNING, StartedServer
from tests.mariadb import StartedMariaDb

# Tests run in as many processes as there are cores: threads inside each would only wait for one another.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

# A busy machine is no defect: nothing here measures time. Where a change is judged, the same examples are tried every
# time, with the same noise; everywhere else new ones are.
JUDGED = "CI" in os.environ
settings.register_profile("patient", deadline=None, derandomize=JUDGED)
settings.load_profile("patient")

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
REQUIRE_BROWSER = "RELEASE_DESK_REQUIRE_BROWSER"
NO_BROWSER = f"no Chromium on PATH under the names {', '.join(BROWSERS)}; on Debian: apt install chromium"


# What is collected stays to the end: the garbage collector need not look through it again and again.
gc.disable()

MAIN = sys.modules["__main__"]
TRIED: dict[str, Any] = {}
"""Trials on public tables by what they follow from; see `small_trials`."""


def find_chromium() -> str | None:
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


def pytest_configure(config: pytest.Config) -> None:
    if JUDGED:
        from tests.draws import SameDrawsPlugin

        config.pluginmanager.register(SameDrawsPlugin())


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Before cases are chosen by their markers."""
    crossings.thin(items)


def pytest_collection_finish() -> None:
    gc.enable()
    gc.freeze()


def pytest_unconfigure() -> None:
    gc.unfreeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    # A page that a test ran was the main program then; processes that later tests start would look for it.
    sys.modules["__main__"] = MAIN
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
        patch.setenv("RELEASE_DESK_STATE", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty workspace folder, which is also where the dashboard looks during this test."""
    folder = tmp_path / "workspace"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("RELEASE_DESK_HOME", str(folder))
    return folder


@pytest.fixture(scope="session")
def postgres(pytestconfig: pytest.Config) -> Iterator[StartedServer]:
    """A PostgreSQL server that only these tests know; tests that use it carry the marker `slow`."""
    if (running := pytestconfig.stash.get(RUNNING, None)) is not None:
        yield running
        return
    server = StartedServer()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def mariadb() -> Iterator[StartedMariaDb]:
    """A MariaDB server that only these tests know; tests that use it carry the marker `slow`."""
    server = StartedMariaDb()
    yield server
    server.stop()


@pytest.fixture
def books(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    """Where a ledger may be: a file, or an empty database of a server (`tests.databases.BOTH`)."""
    if getattr(request, "param", "file") == "file":
        return tmp_path / "ledger.sqlite"
    return request.getfixturevalue("postgres").new()


@pytest.fixture
def small_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures from one trial on a few rows: they are told all the same, and sooner.

    The same public facts give the same figure at every desk, so a trial is made once for all tests.
    """
    from core.desk import told_figures
    from core.planning import recommendation
    from core.planning.simulation import kept_trials, stand_ins

    class Shared(kept_trials.Figures):
        def __init__(self, folder: Path | None = None, apart: object = None) -> None:
            super().__init__(folder)  # in this process, which knows the numbers below
            self._known = TRIED

    monkeypatch.setattr(stand_ins, "DRAWN", 500)
    monkeypatch.setattr(kept_trials, "QUICK_RUNS", 1)
    monkeypatch.setattr(recommendation, "CLOSE_RUNS", 1)
    monkeypatch.setattr(recommendation, "ONCE_SECONDS", 1.0)
    monkeypatch.setattr(kept_trials, "ONE_SECONDS", 1.0)
    monkeypatch.setattr(recommendation, "KIND_SECONDS", 0.0)
    monkeypatch.setattr(recommendation, "STUDY_SECONDS", 0.3)
    monkeypatch.setattr(told_figures, "Figures", Shared)


@pytest.fixture(scope="session", autouse=True)
def installed_components_are_read_once() -> Iterator[None]:
    """Streamlit looks through every installed package for components each time a test opens a page."""
    if "streamlit" not in sys.modules:
        yield
        return
    from streamlit.components.v2 import manifest_scanner

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        yield


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
