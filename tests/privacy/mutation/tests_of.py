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
    "core/plans/pricing.py",
    "core/ledger/ledger.py",
    "core/ledger/refunds.py",
    "core/ledger/rows.py",
)
ROOMS = {
    "kernel": _files("tests/core/kernel", "test_*"),
    "kernel/databases": _files("tests/core/kernel/databases", "test_*"),
    "kernel/decisions": [*_files("tests/core/kernel/decisions", "test_*"), "tests/core/kernel/test_kernel.py"],
    "kernel/searches": _files("tests/core/kernel/searches", "test_*"),
    "privacy": [*_files("tests/core/privacy", "test_*"), "tests/privacy/test_samplers.py"],
    "plans": ["tests/core/plans/test_pricing.py", "tests/core/plans/test_terms.py"],
    "ledger": [
        *_files("tests/core/ledger", "test_*"),
        "tests/core/sessions/test_settlement.py",
        "tests/reliability/test_rollback.py",
        "tests/security/test_budget_of_people.py",
    ],
}


def tests_of(path: str) -> list[str]:
    """Of the tests of these files, those are run that pass through a mistake."""
    room = path.removeprefix("core/").rpartition("/")[0]
    return ROOMS[room]
