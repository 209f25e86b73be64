"""What the first visitor waits for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from signal import Signals

import pytest

from tests.dashboard.server import PATIENCE, ROOT, serving

HEAVY = ("scipy.optimize", "scipy.stats", "networkx", "opendp", "dp_accounting")


@pytest.mark.exhaustive
def test_the_first_page_imports_nothing_heavy() -> None:
    """Each of these takes a quarter of a second or more and is needed only once something is released."""
    program = (
        "import sys; from streamlit.testing.v1 import AppTest; "
        "from dashboard.door import access; access.has_key = lambda: True; "
        "app = AppTest.from_file('dashboard/app.py', default_timeout=120).run(); assert app.title[0].value == 'Data'; "
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=300, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.exhaustive
@pytest.mark.parametrize("signal", [Signals.SIGINT, Signals.SIGTERM])
def test_the_command_ends_quietly(tmp_path: Path, signal: Signals) -> None:
    """`serving` looks for a traceback in what was printed."""
    with serving(tmp_path / "home") as server:
        server.process.send_signal(signal)
        assert server.process.wait(PATIENCE / 1000) in (0, -signal)


@pytest.mark.exhaustive
def test_a_taken_port_is_refused_and_the_free_one_is_printed(tmp_path: Path) -> None:
    with serving(tmp_path / "home") as server:
        taken = [sys.executable, "-m", "dashboard", "--port", str(server.port)]
        again = subprocess.run(taken, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE / 1000)
        assert again.returncode == 1
        assert "not available" in again.stderr
        assert "token" not in again.stdout
        assert f"\n    {server.address}/?token={server.key}\n" in server.log.read_text()
