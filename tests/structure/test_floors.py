"""Rooms stand on floors: a room imports only from rooms below it, so that a reader can follow a release downwards."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FLOORS = [
    *("base", "schema", "privacy", "table", "kernel", "queries", "models", "theory", "formulas", "rules"),
    *("mechanisms", "decisions", "local", "attacks", "registry", "planning", "ledger", "plans", "release"),
    *("sessions", "desk"),
]
MOST_FILES = 15
"""Files in a room; a larger one has no rooms inside."""
FOLDERS = [path.parent for part in ("core", "dashboard") for path in sorted((ROOT / part).rglob("__init__.py"))]


def rooms_of(path: Path) -> set[str]:
    """The rooms of core that a file imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"core.{alias.name}" for alias in node.names] if node.module == "core" else [node.module]
        found |= {parts[1] for name in names if (parts := name.split("."))[0] == "core" and len(parts) > 1}
    return found


@pytest.mark.parametrize("room", FLOORS)
def test_a_room_imports_only_from_rooms_below(room):
    below = set(FLOORS[: FLOORS.index(room) + 1])
    files = [ROOT / "core" / f"{room}.py"] if room == "registry" else list((ROOT / "core" / room).rglob("*.py"))
    assert files
    for path in files:
        assert rooms_of(path) <= below, path


def test_every_room_is_on_a_floor():
    names = {path.name.removesuffix(".py") for path in (ROOT / "core").iterdir() if path.name[0] not in "._"}
    assert names - {"py.typed", "README.md"} == set(FLOORS)


def test_the_engine_knows_no_user_interface():
    for path in (ROOT / "core").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert "streamlit" not in text and "import dashboard" not in text and "from dashboard" not in text, path


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.relative_to(ROOT).as_posix())
def test_a_folder_is_a_room(folder):
    said = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))
    assert said, "its __init__.py says in one sentence what lives there and what it may import"
    files = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
    assert len(files) <= MOST_FILES
