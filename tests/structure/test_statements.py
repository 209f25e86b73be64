"""Texts that a database runs stay where the README says: over private rows in one room, over spends in another."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STATEMENT = re.compile(
    r"\s*(SELECT\s.*\sFROM|INSERT\s+INTO|CREATE\s+(TEMP\s+)?(TABLE|VIEW)|COPY\s|ATTACH\s|PRAGMA\s)", re.S
)
WORDS = re.compile("SELECT|INSERT|CREATE|COPY|ATTACH|PRAGMA")
ROOMS = ("core/table/formats/", "core/ledger/", "core/sessions/kept/", "core/desk/kept/small_rows.py")
"""Rows of private tables; spends; answers of sessions; what servers share beside them."""
EXAMPLES = ("core/formulas/sql/", "dashboard/")
"""Statements that people write are parsed by a grammar of our own and never run; pages show some."""


def statements(source: str) -> list[str]:
    """Texts in a file, docstrings aside, that begin as a statement does."""
    tree = ast.parse(source)
    told = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    found = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in told)
    return [each.value for each in found if isinstance(each.value, str) and STATEMENT.match(each.value)]


def test_no_other_room_writes_statements() -> None:
    files = [path for package in ("core", "dashboard") for path in (ROOT / package).rglob("*.py")]
    names = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in files}
    # Most files hold none of these words, and need not be parsed to know it.
    written = {name for name, source in names.items() if WORDS.search(source) and statements(source)}
    assert not {name for name in written if not name.startswith((*ROOMS, *EXAMPLES))}
    assert all(any(name.startswith(room) for name in written) for room in ROOMS), "the check sees what it should"


@pytest.mark.parametrize(
    "source", ["run('SELECT a FROM t')", "run(f'CREATE TABLE {name}')", "run('''\\n INSERT INTO t''')"]
)
def test_a_statement_is_seen(source: str) -> None:
    assert statements(source)
