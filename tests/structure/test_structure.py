"""Nothing is forgotten: every registered name is documented, has a form and is tested; the tests mirror the tree.

That the page 'Help' lists every name is checked in `tests/dashboard/pages/test_shared.py`.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterable
from dataclasses import fields
from functools import lru_cache
from pathlib import Path

import pytest

from core import registry
from core.base.options import options_of, unlisted_of
from tests.privacy.kit import cases, sessions

ROOT = Path(__file__).parents[2]
CATALOGUE = (ROOT / "core" / "README.md").read_text(encoding="utf-8")
REGISTERED = {**registry.query_classes, **registry.mechanisms, **registry.decisions}
PARTS = {"queries", "budget"}
"""What every mechanism is given by the desk; everything else of it is an option or says why it is not."""

TESTED_BY: dict[str, tuple[str, str]] = {
    "tests/core/base/test_axes.py": (
        "types have no tests of their own; sums over axes are written in them",
        "base/arrays",
    ),
    "tests/core/base/test_options.py": ("limits are those of options", "base/limits"),
    "tests/core/ledger/postgres/test_postgres.py": ("what connections are made with", "base/postgres_settings"),
    "tests/core/kernel/test_kernel.py": ("tables read otherwise are asked through the kernel", "table/views"),
    "tests/core/formulas/test_question.py": (
        "one grammar, tested as the language it reads",
        "formulas/cells formulas/grammar formulas/spans formulas/sums formulas/syntax formulas/tokens formulas/writing",
    ),
    "tests/core/local/test_collect.py": (
        "a collection, from its plan to its files",
        "local/certificate local/design local/estimates local/expected local/joint local/kinds local/plan "
        "local/question local/reports release/collected",
    ),
    "tests/core/mechanisms/direct/test_direct.py": (
        "every offline mechanism is one, and gives a model",
        "mechanisms/kit/protocol models/protocol",
    ),
    "tests/core/mechanisms/online/test_online.py": (
        "every session is one, and gives such answers",
        "mechanisms/kit/interactive mechanisms/kit/answers",
    ),
    "tests/core/mechanisms/ranges/test_interval_tree.py": (
        "what the two trees of blocks share",
        "mechanisms/ranges/levels",
    ),
    "tests/core/models/fitting/test_tree_fit.py": ("the multipliers of a fit", "models/fitting/slack"),
    "tests/core/mechanisms/median/test_median_walk.py": ("the points of a walk", "models/polytope/cloud"),
    "tests/core/models/nets/test_median.py": (
        "nets of databases, and their answers",
        "models/nets/public_net models/nets/net_answers",
    ),
    "tests/core/attacks/test_worst_parity.py": ("constructions that mechanisms release", "attacks/invented"),
    "tests/core/mechanisms/games/test_game_databases.py": (
        "databases as moves of a game, and which nets are too large",
        "mechanisms/games/strategies mechanisms/kit/net_checks",
    ),
    "tests/core/desk/test_desk.py": (
        "the plans that the desk makes, the tables that it holds and what it shows of them, and models widened to all "
        "columns",
        "desk/tables/accounts desk/tables/held_tables plans/plan plans/session_plan plans/statements models/widened",
    ),
    "tests/core/planning/simulation/test_kept_trials.py": (
        "what a figure is made of: trials, the model, and its slope between budgets",
        "planning/simulation/curve planning/simulation/expected_error planning/simulation/fitted "
        "planning/simulation/trial",
    ),
    "tests/core/plans/test_terms.py": (
        "terms of every kind, as they are written and read back",
        "plans/canonical plans/discovery_terms plans/release_terms plans/session_terms",
    ),
    "tests/core/decisions/test_decisions.py": (
        "every decision by the same checks",
        "decisions/covers/class_cover decisions/covers/cover_size decisions/covers/degree_order "
        "decisions/covers/greedy_cover decisions/covers/padded_order "
        "decisions/covers/set_buckets decisions/covers/set_choices decisions/covers/set_cover "
        "decisions/covers/set_orders "
        "decisions/covers/set_presence decisions/covers/set_ranges decisions/covers/vertex_cover "
        "decisions/covers/vertex_order decisions/cuts/min_cut decisions/cuts/padded_cut decisions/cuts/suggestions "
        "decisions/sites/facility_superset decisions/sites/k_median decisions/sites/k_median_counts "
        "decisions/sites/k_median_exact decisions/sites/k_median_search decisions/sites/places "
        "decisions/sites/site_problem",
    ),
    "tests/core/desk/test_decisions.py": (
        "a decision from its plan to its files",
        "plans/decision_plan plans/decision_terms release/decision_release",
    ),
    "tests/core/privacy/test_accounting.py": (
        "budgets and events are what the accountant prices",
        "privacy/budget privacy/events",
    ),
    "tests/core/privacy/test_units.py": ("units of privacy", "privacy/unit"),
    "tests/core/queries/test_every_class.py": (
        "every query class by the same checks, down to the single question",
        "queries/conjunctions queries/counting queries/linear queries/unions queries/kit/literals queries/kit/pieces "
        "queries/kit/protocol queries/kit/sources",
    ),
    "tests/core/queries/test_refusals.py": ("what queries refuse", "queries/kit/checks"),
    "tests/core/queries/test_halfspaces.py": ("the directions of halfspaces", "queries/kit/normals"),
    "tests/core/schema/test_domain.py": (
        "the columns of a schema, which is how all of it is reached",
        "schema/attributes schema/ordered schema/spellings",
    ),
    "tests/core/schema/test_codebook.py": ("lists of values occur in code books only", "schema/value_list"),
    "tests/core/theory/test_theorems.py": (
        "every theorem by the same checks",
        "theory/games theory/halfspaces theory/intervals theory/iterative theory/online theory/release theory/smalldb",
    ),
}
"""Files without a test file of their own name or family: who tests them, and why there."""


@pytest.mark.parametrize("name", REGISTERED)
def test_the_catalogue_names_it(name):
    assert f"`{name}`" in CATALOGUE


@pytest.mark.parametrize("name", [*registry.mechanisms, *registry.decisions])
def test_every_mechanism_says_what_it_promises(name):
    kind = REGISTERED[name]
    assert kind.name == name
    for part in ("**Privacy**", "**Accuracy**", "**Runtime**", "Theorem"):
        assert part in kind.__doc__, f"{name} lacks {part}"
    assert kind.title
    assert kind.prefer.endswith(".")


@pytest.mark.parametrize("name", registry.randomisers)
def test_every_randomiser_says_what_it_promises(name):
    kind = registry.randomisers[name]
    assert f"`{name}`" in CATALOGUE
    assert kind.name == name
    assert all(part in kind.__doc__ for part in ("**Privacy**", "**Accuracy**", "**Runtime**"))
    assert kind.title and kind.known_as and kind.prefer.endswith(".")
    assert kind.gives in ("shares", "curve", "ranges", "mean")


@pytest.mark.parametrize("name", registry.query_classes)
def test_every_query_class_is_described(name):
    kind = registry.query_classes[name]
    assert kind.name == name
    assert kind.__doc__
    assert kind.title


@pytest.mark.parametrize("name", REGISTERED)
def test_every_option_has_a_form_or_a_reason(name):
    kind = REGISTERED[name]
    own = {each.name for each in fields(kind)} - (set() if name in registry.query_classes else PARTS)
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


def own_tests(module: str) -> list[Path]:
    """Test files in the mirrored folder of a module's name, of the family that its name begins with, or of its folder.

    `kit/run_time` by `kit/test_run_time.py`, `codebook_line` by `test_codebook.py`, `tree/records` by
    `tree/test_tree.py`.
    """
    folder, _, name = module.rpartition("/")
    words, room = name.split("_"), folder.rpartition("/")[2]
    names = {"_".join(words[:count]) for count in range(1, len(words) + 1)} | {room, room.removesuffix("s")}
    there = (ROOT / "tests" / "core" / folder).glob("test_*.py")
    return [path for path in there if path.stem == f"test_{room}_basic" or path.stem.removeprefix("test_") in names]


def reached_from(tests: Iterable[Path], wanted: Path) -> bool:
    """Whether a test imports a file, or what it imports does; nearest files are looked at first."""
    seen = set(tests)
    queue = deque(seen)
    while queue:
        found = imported(queue.popleft()) - seen
        if wanted in found:
            return True
        seen |= found
        queue.extend(found)
    return False


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


def test_tests_mirror_the_tree():
    own = {module for module in modules() if reached_from(own_tests(module), ROOT / "core" / f"{module}.py")}
    elsewhere = {module for _, names in TESTED_BY.values() for module in names.split()}
    assert set(modules()) - own == elsewhere, "missing, or no longer needed"


@pytest.mark.parametrize("test", TESTED_BY)
def test_what_is_tested_elsewhere_is_reached_from_there(test):
    reason, names = TESTED_BY[test]
    assert reason
    for module in names.split():
        assert reached_from([ROOT / test], ROOT / "core" / f"{module}.py")
