"""Which files are trusted, and where the tests are that may notice a mistake in each of them."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def _files(folder: str, named: str = "*") -> list[str]:
    found = (path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob(f"{named}.py"))
    return sorted(path for path in found if not path.endswith("__init__.py"))


TRUSTED = (
    *_files("core/kernel"),
    *_files("core/privacy"),
    *_files("core/ledger"),
    "core/plans/pricing.py",
)
ON_SERVERS = ["tests/core/ledger/test_leases.py", "tests/core/ledger/postgres/test_postgres.py"]
"""Their tests need a PostgreSQL server. They are marked as slow, but only starting it is."""
ROOMS = {
    "kernel": _files("tests/core/kernel", "test_*"),
    "kernel/databases": _files("tests/core/kernel/databases", "test_*"),
    "kernel/decisions": [*_files("tests/core/kernel/decisions", "test_*"), "tests/core/kernel/test_kernel.py"],
    "kernel/searches": _files("tests/core/kernel/searches", "test_*"),
    "privacy": [*_files("tests/core/privacy", "test_*"), "tests/privacy/test_samplers.py"],
    "plans": ["tests/core/plans/test_pricing.py", "tests/core/plans/test_terms.py"],
    "ledger": [
        *(test for test in _files("tests/core/ledger", "test_*") if test not in ON_SERVERS),
        "tests/core/sessions/test_settlement.py",
        "tests/reliability/test_old_workspace.py",
        "tests/reliability/test_rollback.py",
        "tests/security/budget/test_budget_of_people.py",
    ],
}


def tests_of(path: str) -> list[str]:
    """Of the tests of these files, those are run that pass through a mistake."""
    room, _, name = path.removeprefix("core/").rpartition("/")
    return ON_SERVERS if room == "ledger/postgres" or name.startswith("leases") else ROOMS[room]
