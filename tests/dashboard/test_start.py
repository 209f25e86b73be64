"""What the first visitor waits for."""

from __future__ import annotations

import subprocess
import sys

from tests.dashboard.server import ROOT

HEAVY = ("scipy.optimize", "scipy.stats", "networkx", "opendp", "dp_accounting")


def test_the_first_page_imports_nothing_heavy() -> None:
    """Each of these takes a quarter of a second or more and is needed only once something is released."""
    program = (
        "import sys; from streamlit.testing.v1 import AppTest; "
        "from dashboard.views import access; access.has_key = lambda: True; "
        "app = AppTest.from_file('dashboard/app.py', default_timeout=120).run(); assert app.title[0].value == 'Data'; "
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=300, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"
