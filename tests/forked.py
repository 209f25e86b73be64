"""Processes that tests start and kill by the hundred.

One clean single-threaded server forks them all. There is one list of what it loads beforehand, because a second list
would take the place of the first: whoever is not in it would load everything again in each of its processes.
"""

from __future__ import annotations

import multiprocessing

LOADED = [
    "psycopg",
    "tests.reliability.test_desk_crash",
    "tests.reliability.test_ledger_kills",
    "tests.reliability.test_ledger_races",
    "tests.reliability.test_one_attempt",
    "tests.reliability.test_servers",
    "tests.reliability.test_session_crash",
    "tests.reliability.test_silent_servers",
    "tests.security.files.intake",
    "tests.security.files.test_uploads",
]
"""Every module whose functions such a process runs."""

processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(LOADED)
