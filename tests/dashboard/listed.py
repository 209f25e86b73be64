"""The pages as `dashboard/app.py` lists them, so that a page that is added there is tested like the others."""

from __future__ import annotations

import ast
from pathlib import Path

APP = Path(__file__).resolve().parents[2] / "dashboard" / "app.py"


def _is_call(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == f"st.{name}"


def _pages(nodes: list[ast.AST]) -> dict[str, str]:
    """Files and titles of the pages that are made in these lines."""
    made = [node for part in nodes for node in ast.walk(part) if _is_call(node, "Page")]
    return {Path(ast.literal_eval(page.args[0])).stem: _title(page) for page in made}


def _title(page: ast.Call) -> str:
    [title] = [each.value for each in page.keywords if each.arg == "title"]
    return str(ast.literal_eval(title))


def _shown_to_visitors(tree: ast.Module) -> dict[str, str]:
    """What the navigation lists for everybody else than the curator."""
    [navigation] = [node for node in ast.walk(tree) if _is_call(node, "navigation")]
    names = {ast.unparse(each) for each in navigation.args[0].orelse.elts}
    lines = [node for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in names]
    assert len(lines) == len(names)
    return _pages(lines)


_TREE = ast.parse(APP.read_text(encoding="utf-8"))
PAGES = _pages([_TREE])
"""Name of the file and title, of every page."""
EVERYBODYS = _shown_to_visitors(_TREE)
CURATORS = {name: title for name, title in PAGES.items() if name not in EVERYBODYS}
