"""Nothing is forgotten: every registered name is documented, has a form and is tested; the tests mirror the tree.

That the page 'Help' lists every name is checked in `tests/dashboard/test_shared.py`.
"""

from __future__ import annotations

import ast
from dataclasses import fields
from functools import lru_cache
from pathlib import Path

import pytest

from core import registry
from core.base.options import options_of, unlisted_of
from tests.privacy import cases, sessions

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
REGISTERED = {**registry.query_classes, **registry.mechanisms}
PARTS = {"queries", "budget"}
"""What every mechanism is given by the desk; everything else of it is an option or says why it is not."""

TESTED_BY: dict[str, tuple[str, str]] = {
    "tests/core/test_formula.py": (
        "one grammar, tested as the language it reads",
        "formulas/cells formulas/grammar formulas/spans formulas/sums formulas/tokens formulas/tree formulas/writing",
    ),
    "tests/core/theory/test_theorems.py": (
        "every theorem by the same checks",
        "theory/games theory/halfspaces theory/intervals theory/iterative theory/online theory/release theory/smalldb",
    ),
    "tests/core/queries/test_every_class.py": (
        "every query class by the same checks, down to the single question",
        "queries/conjunctions queries/counting queries/linear queries/unions queries/literals queries/pieces "
        "queries/protocol queries/query queries/sources",
    ),
    "tests/core/queries/test_refusals.py": ("what queries refuse", "queries/checks"),
    "tests/core/queries/test_halfspaces.py": ("the directions of halfspaces", "queries/normals"),
    "tests/core/test_domain.py": (
        "the columns of a schema, which is how all of it is reached",
        "attributes ranges values",
    ),
    "tests/core/test_codebook.py": ("lists of values occur in code books only", "value_list"),
    "tests/core/test_table.py": ("the parts of a private table", "encoded files rows"),
    "tests/core/test_desk.py": ("what the desk shows, and the plans it makes", "held plan"),
    "tests/core/test_session.py": ("the desk's sessions", "sessions"),
    "tests/core/test_ledger_file.py": ("what the ledger's file and the sessions' file share", "kept_file"),
    "tests/core/test_noise.py": ("the samplers behind the noise", "samplers"),
    "tests/core/mechanisms/test_direct.py": (
        "the two are the same mechanism with another noise",
        "mechanisms/gaussian mechanisms/laplace",
    ),
    "tests/core/mechanisms/test_iterative.py": (
        "the steps of every adaptive mechanism",
        "mechanisms/asking mechanisms/construct mechanisms/single queries/question mechanisms/protocol models/protocol",
    ),
    "tests/core/mechanisms/test_interval_tree.py": ("what the two trees of blocks share", "mechanisms/levels"),
    "tests/core/mechanisms/test_smalldb.py": ("what the two small-database mechanisms share", "mechanisms/small"),
    "tests/core/mechanisms/test_median_basic.py": (
        "the session that both median mechanisms are",
        "mechanisms/median_loss mechanisms/median_session mechanisms/median_state mechanisms/median_thesis "
        "mechanisms/interactive",
    ),
    "tests/core/models/test_median.py": ("nets of small databases", "models/nets"),
    "tests/core/models/test_tree_fit.py": ("the multipliers of a fit", "models/slack"),
    "tests/core/models/test_polytope.py": ("the walk over a polytope", "models/walk models/walk_mixing"),
    "tests/core/mechanisms/test_median_walk.py": ("the points of a walk", "models/walk_cloud"),
}
"""Files without a test file of their own name or family: who tests them, and why there."""


@pytest.mark.parametrize("name", REGISTERED)
def test_the_readme_names_it(name):
    assert f"`{name}`" in README


@pytest.mark.parametrize("name", registry.mechanisms)
def test_every_mechanism_says_what_it_promises(name):
    kind = registry.mechanisms[name]
    assert kind.name == name
    for part in ("**Privacy**", "**Accuracy**", "**Runtime**", "Theorem"):
        assert part in kind.__doc__, f"{name} lacks {part}"
    assert kind.title
    assert kind.prefer.endswith(".")


@pytest.mark.parametrize("name", registry.query_classes)
def test_every_query_class_is_described(name):
    kind = registry.query_classes[name]
    assert kind.name == name
    assert kind.__doc__
    assert kind.title


@pytest.mark.parametrize("name", REGISTERED)
def test_every_option_has_a_form_or_a_reason(name):
    kind = REGISTERED[name]
    own = {each.name for each in fields(kind)} - (PARTS if name in registry.mechanisms else set())
    assert own == {each.name for each in options_of(kind)} | unlisted_of(kind).keys()
    assert all(unlisted_of(kind).values())


def test_everything_is_in_the_conformance_run():
    assert {case.values[0].name for case in cases.CASES} == registry.offline.keys()
    assert sessions.VARIANTS.keys() == registry.interactive.keys()
    assert registry.query_classes.keys() <= cases.EXAMPLES.keys()
    served = {query.name for case in cases.CASES for query in case.values[0].queries}
    assert served == registry.query_classes.keys()


def modules() -> list[str]:
    folder = ROOT / "core"
    paths = (path.relative_to(folder).with_suffix("") for path in folder.rglob("*.py") if path.name != "__init__.py")
    return sorted(path.as_posix() for path in paths)


def own_test(module: str) -> bool:
    """A test file of its name, or of the family that its name begins with: session_answer by test_session."""
    folder, _, name = module.rpartition("/")
    words = name.split("_")
    names = ("_".join(words[:count]) for count in range(len(words), 0, -1))
    return any((ROOT / "tests" / "core" / folder / f"test_{each}.py").is_file() for each in names)


def test_tests_mirror_the_tree():
    elsewhere = {module for _, names in TESTED_BY.values() for module in names.split()}
    assert {module for module in modules() if not own_test(module)} == elsewhere, "missing, or no longer needed"


@lru_cache(maxsize=1024)
def imported(path: Path) -> frozenset[Path]:
    """Files of this project that a file imports by itself."""
    found: set[Path] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        folders = (ROOT / name.replace(".", "/") for name in names if name.split(".")[0] in ("core", "tests"))
        places = (place for folder in folders for place in (folder.with_suffix(".py"), folder / "__init__.py"))
        found |= {place for place in places if place.is_file()}
    return frozenset(found)


@pytest.mark.parametrize("test", TESTED_BY)
def test_what_is_tested_elsewhere_is_reached_from_there(test):
    reached, queue = set(), [ROOT / test]
    while queue:
        path = queue.pop()
        if path not in reached:
            reached.add(path)
            queue += imported(path)
    reason, names = TESTED_BY[test]
    assert reason
    for module in names.split():
        assert ROOT / "core" / f"{module}.py" in reached
