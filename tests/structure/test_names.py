"""One word, one thing: no public class or type of the engine and the dashboard has two meanings."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
ALLOWED: dict[str, str] = {}
"""Public names that are defined twice on purpose, each with its reason."""


def defined(source: str) -> Iterator[str]:
    """Public classes and aliases of types at the top of a module; constants are in capitals."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef):
            name = node.name
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = "" if "TypeVar(" in ast.unparse(node.value) else node.targets[0].id
        else:
            continue
        if name[:1].isupper() and not name.isupper():
            yield name


def twice(sources: dict[str, str]) -> dict[str, list[str]]:
    places: dict[str, list[str]] = defaultdict(list)
    for path, source in sources.items():
        for name in defined(source):
            places[name].append(path)
    return {name: found for name, found in places.items() if len(found) > 1}


def test_no_public_name_has_two_meanings():
    files = [path for package in ("core", "dashboard") for path in (ROOT / package).rglob("*.py")]
    found = twice({path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in files})
    assert found.keys() == ALLOWED.keys(), {name: places for name, places in found.items() if name not in ALLOWED}
    assert all(ALLOWED.values())


def test_a_second_meaning_is_found():
    assert twice({"a": "class Plan: ...", "b": "Plan = tuple[str, ...]"}) == {"Plan": ["a", "b"]}
    assert not twice({"a": "LIMIT = 1\nclass _Plan: ...", "b": "LIMIT = 2\nclass _Plan: ...\nT = TypeVar('T')"})
