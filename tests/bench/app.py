"""The dashboard's speed and memory beside what a curator can be asked to bear.

The `limit` is our own: a page that re-runs in 300 ms feels immediate, a hosted demo has 600 MB, and 3 s to the first
paint is how long people wait. Pages are run by Streamlit's test runner in this process (`ms` is the median of several
re-runs); the first paint and the memory are those of a server of its own, looked at by a real browser if there is one.
"""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from playwright.sync_api import sync_playwright

from tests.bench.line import Line
from tests.dashboard.server import FLAGS, ROOT, serving

PAGES = ("data", "plan", "release", "ask", "accuracy", "budget", "limits", "shared", "help")
REPEATS = 5
LARGE = 1_000_000
DEMO_MS, LARGE_MS, PAINT_S, RSS_MB = 300, 1_000, 3, 600


def run() -> Iterator[Line]:
    with tempfile.TemporaryDirectory() as folder:
        yield from _pages("demo table", DEMO_MS, Path(folder) / "demo", None)
        yield from _pages("1 million rows", LARGE_MS, Path(folder) / "large", LARGE)
        yield from _server(Path(folder) / "served")


def _pages(case: str, limit: float, home: Path, rows: int | None) -> Iterator[Line]:
    """Median time of a re-run of every page, with a table and a shared release at the desk."""
    os.environ["RELEASE_DESK_HOME"] = str(home)
    import streamlit as st
    from streamlit.testing.v1 import AppTest

    from dashboard.door import access
    from dashboard.views.common import state

    access.has_key = lambda: True
    st.cache_resource.clear()
    desk = state.desk()
    _prepare(desk, rows)
    for name in PAGES:
        app = AppTest.from_file(str(ROOT / "dashboard" / "app.py"), default_timeout=120).run()
        app = app.switch_page(f"steps/{name}.py").run()
        times = []
        for _ in range(REPEATS):
            start = time.perf_counter()
            app.run()
            times.append(1000 * (time.perf_counter() - start))
        assert not app.exception, name
        yield Line("app", f"{name}, {case}", "ms", statistics.median(times), "limit", limit)
    desk.close()


def _prepare(desk: object, rows: int | None) -> None:
    from core import Budget, Desk, Domain, Marginals, Unit

    assert isinstance(desk, Desk)
    schema = Domain.from_json((ROOT / "data" / "clinic_visits.schema.json").read_text(encoding="utf-8"))
    frame = pd.read_csv(ROOT / "data" / "clinic_visits.csv")
    if rows is not None:
        frame = frame.iloc[np.random.default_rng(1).integers(0, len(frame), rows)].reset_index(drop=True)
    table = desk.add_table(frame, schema, unit=Unit.row(), budget=Budget(4, 1e-9), name="visits")
    plan = desk.plan(table, [Marginals(order=2)], mechanism="gaussian", budget=Budget(1, 1e-9))
    desk.release(plan)
    desk.share(plan.id, title="Visits")


def _server(home: Path) -> Iterator[Line]:
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with serving(home) as server:
        if chromium is not None:
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
                page = browser.new_page()
                start = time.perf_counter()
                page.goto(server.link())
                page.get_by_role("heading", name="Data", exact=True).wait_for()
                yield Line("app", "first paint, cold server", "s", time.perf_counter() - start, "limit", PAINT_S)
                for name in PAGES:
                    page.goto(f"{server.address}/{name}")
                    page.get_by_role("heading", name=name.capitalize(), exact=True).wait_for()
                browser.close()
        status = Path(f"/proc/{server.process.pid}/status").read_text(encoding="ascii")
        peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
        yield Line("app", "server after a visit to every page", "rss_mb", peak / 1024, "limit", RSS_MB)
