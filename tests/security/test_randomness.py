"""One door to randomness: no two draws are ever the same, and nothing in the source draws behind the door's back."""

from __future__ import annotations

import ast
import multiprocessing
import random
import re
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from core.privacy.noise import Noise

ROOT = Path(__file__).resolve().parents[2]

# No equal draws.

Draw = Callable[[int], list[int]]


def real(_: int) -> list[int]:
    """A hundred draws that agree by chance with probability below 2^-30: words, and Laplace noise of scale 10^15."""
    noise = Noise()
    noisy = noise.laplace(np.zeros(50, np.int64), epsilon=Fraction(1, 10**15), sensitivity=1)
    return [*noisy.tolist(), *noise.keys(50).tolist()]


_INHERITED = random.Random(1)


def inherited(_: int) -> list[int]:
    """The mutant: a generator with a state of its own, which a fork copies."""
    return [_INHERITED.getrandbits(62) for _ in range(100)]


def seeded(_: int) -> list[int]:
    """The mutant: a generator that every call seeds alike."""
    return [random.Random(7).getrandbits(62) for _ in range(100)]


def repeats(draw: Draw) -> int:
    """How many draws of forked processes, threads and this one have been seen before."""
    seen = draw(0)  # whatever a process could keep would be kept, and inherited, from here on
    with multiprocessing.get_context("fork").Pool(2) as processes:
        forked = processes.map(draw, range(8), chunksize=4)
    with ThreadPoolExecutor(8) as threads:
        threaded = list(threads.map(draw, range(16)))
    seen += [number for draws in (*forked, *threaded, draw(0)) for number in draws]
    assert len(seen) == 2600
    return len(seen) - len(set(seen))


@pytest.mark.fresh_draws
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_forked_processes_and_threads_never_share_draws() -> None:
    assert repeats(real) == 0


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("mutant", [inherited, seeded])
def test_a_generator_with_a_state_or_a_seed_is_caught(mutant: Draw) -> None:
    assert repeats(mutant) > 0


AGAIN = """
import importlib, sys
from fractions import Fraction
import numpy as np
def draws():
    from core.privacy.noise import Noise
    noise = Noise()
    noisy = noise.laplace(np.zeros(50, np.int64), epsilon=Fraction(1, 10**15), sensitivity=1)
    return [*noisy.tolist(), *noise.keys(50).tolist(), int(noise.generator().integers(2**62))]
seen = draws()
importlib.reload(sys.modules["core.privacy.samplers"]), importlib.reload(sys.modules["core.privacy.noise"])
seen += draws()
for name in [name for name in sys.modules if name.split(".")[0] == "core"]:
    del sys.modules[name]
print(*seen, *draws())
"""


@pytest.mark.exhaustive
def test_importing_again_and_starting_again_never_repeat_draws() -> None:
    seen: list[str] = []
    for _ in range(2):
        ran = subprocess.run([sys.executable, "-c", AGAIN], cwd=ROOT, capture_output=True, text=True, check=True)
        seen += ran.stdout.split()
    assert len(set(seen)) == len(seen) == 2 * 3 * 101


# No other source.

DOORS = ("core/privacy/noise.py", "core/privacy/samplers.py")
ALLOWED = {
    (
        "core/decisions/k_means.py",
        "np.random.default_rng",
    ): "looks for the best centres without privacy, as a rehearsal on public rows compares with",
    (
        "core/decisions/k_means_records.py",
        "np.random.default_rng",
    ): "looks for the best centres without privacy, as a rehearsal on public rows compares with",
    (
        "core/planning/decision_rehearsal.py",
        "np.random.default_rng",
    ): "invents public rows, and the noise of rehearsals",
    (
        "core/planning/session_trials.py",
        "np.random.default_rng",
    ): "draws questions and noise of trials on public tables",
    (
        "core/planning/scoring.py",
        "np.random.default_rng",
    ): "chooses which public questions are scored; no count is touched",
    ("core/planning/simulation/stand_ins.py", "np.random.default_rng"): "invents public tables for trials",
    ("core/planning/simulation/trial.py", "np.random.default_rng"): "draws the noise of trials on public tables",
    ("core/planning/simulation/error_map.py", "np.random.default_rng"): "draws the noise of trials on public tables",
    (
        "core/queries/kit/membership.py",
        "np.random.default_rng",
    ): "invents public tables on which a question is compared with those of a class",
    ("dashboard/views/plan/trials/public_trials.py", "uuid.uuid4"): "names trials in the browser's session",
    ("core/ledger/leases.py", "secrets"): "names the server that is at a plan, never noise",
    ("core/ledger/leases.py", "secrets.token_hex"): "the call behind that name, once per attempt",
    ("core/ledger/postgres/sql.py", "SQL gen_random_uuid("): "names a ledger once, as SQLite's own randomness does",
    ("core/desk/kept/machine_keys.py", "secrets"): "makes the token with which a program may ask, never noise",
    ("core/desk/kept/machine_keys.py", "secrets.token_urlsafe"): "the call behind that token, once per token",
    ("dashboard/door/key.py", "secrets"): "makes the key that opens the desk to its curator, never noise",
    ("dashboard/door/key.py", "secrets.token_urlsafe"): "the call behind that key, once per start",
    ("dashboard/views/plan/rehearsal_form.py", "np.random.default_rng"): "invents public stand-in rows for a rehearsal",
    ("dashboard/views/plan/rehearsal_form.py", "uuid.uuid4"): "names a rehearsal in the browser's session",
    ("core/desk/kept/drafts.py", "secrets"): "names a draft, so that nobody can guess it",
    ("core/desk/kept/drafts.py", "secrets.token_hex"): "the call behind that name",
    ("core/planning/quality/learning.py", "random_state"): "a fixed seed, for a figure that only the curator sees",
    ("core/rules/values.py", "np.random.default_rng"): "a fixed seed, to see whether records can obey public rules",
    ("core/base/optional_package.py", "import by text"): "packages of fixed names, which need not be installed",
    ("dashboard/views/accuracy/quality_view.py", "np.random.default_rng"): "divides rows for the curator's own figure",
    ("dashboard/views/limits/attack_work.py", "uuid.uuid4"): "names work in the browser's session",
    (
        "dashboard/views/data/upload.py",
        "secrets",
    ): "names the file in which an upload waits, so that nobody can guess it",
    ("dashboard/views/data/upload.py", "secrets.token_hex"): "the call behind that name, once per upload",
}
"""Other randomness, with the reason why nothing that protects anybody depends on it."""
POST_PROCESSING = {
    "core/mechanisms/smalldb/path_choice.py": "places the rows of the chosen database inside their pieces",
    "core/attacks/release_attack.py": "draws records from a release of invented or public rows",
    "core/attacks/worst_parity.py": "draws records from a release of a construction",
    "core/decisions/covers/degree_order.py": "breaks ties between noisy degrees",
    "core/decisions/covers/greedy_cover.py": "orders the sets that no private choice was spent on",
    "core/decisions/cuts/min_cut.py": "contracts a graph whose edges are noisy already, to suggest cuts",
    "core/decisions/k_means.py": "starts the search for centres among noisy counts",
    "core/decisions/k_means_records.py": "draws records from a released model, and starts the search for centres there",
    "core/desk/releases.py": "draws records from a model that is already private, and their order",
    "core/kernel/kernel.py": "hands mechanisms a generator of its own for what is public; noise never comes from it",
    "core/local/barrier.py": "invents people on whom the barrier of the local model is measured",
    "core/local/estimates.py": "draws records from a model that was fitted to randomised reports",
    "core/local/expected.py": "draws the noise of trials on public shapes",
    "core/mechanisms/direct/direct.py": "rounds fitted records to whole ones after the noise",
    "core/mechanisms/halfspaces/halfspace_fit.py": "draws public planes, and points around noisy counts",
    "core/mechanisms/halfspaces/halfspace_projections.py": "draws public projections, and records fitted to noise",
    "core/mechanisms/games/game_databases.py": "draws the public net whose databases are the moves of the game",
    "core/mechanisms/iterative/iterative.py": "draws the public net that the median update starts from",
    "core/mechanisms/median/session.py": "draws public databases, and again from those that released answers left over",
    "core/mechanisms/online/online.py": "draws the public net, or public features, that a session starts from",
    "core/mechanisms/ranges/interval_search.py": "spreads records inside ranges whose counts are noisy already",
    "core/mechanisms/ranges/levels.py": "spreads records inside ranges whose counts are noisy already",
    "core/mechanisms/ranges/rectangle_search.py": "spreads records inside boxes whose counts are noisy already",
    "core/mechanisms/smalldb/choice.py": "draws the public net of candidate databases before the table is looked at",
    "core/mechanisms/tree/singles.py": "rehearses denoising on a noisy estimate, which is public by then",
    "core/mechanisms/tree/tree.py": "draws particles from a tree that was fitted to noisy tables, and public planes",
}
"""Who asks `noise` for an ordinary generator, and for what: before the data is touched, or after the noise."""

MODULES = {"random", "secrets", "uuid", "numpy.random", "np.random", "scipy.stats"}
FUNCTIONS = {"os.urandom", "os.getrandom", "ssl.RAND_bytes"}
METHODS = {"rvs", "RandomState", "SystemRandom", "default_rng", "SeedSequence", "getrandbits"}
KEYWORDS = {"random_state"}
SQL = re.compile(r"\b(random|uuid|uuidv4|uuidv7|gen_random_uuid|setseed)\s*\(|\bUSING SAMPLE\b|\bTABLESAMPLE\b", re.I)


def other_randomness(source: str) -> set[str]:
    """Names by which a module could draw by itself; a generator that was handed over, and its type, are allowed."""
    tree = ast.parse(source)
    inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name in MODULES}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = {f"{node.module}.{alias.name}" for alias in node.names if alias.name != "Generator"}
            found |= {name for name in names if node.module in MODULES or name in MODULES | FUNCTIONS}
        elif isinstance(node, ast.Attribute) and node.attr != "Generator":
            name = ast.unparse(node)
            of_module = name.rpartition(".")[0] in MODULES or name in MODULES | FUNCTIONS or node.attr in METHODS
            if of_module and id(node) not in inner:
                found.add(name)
        elif isinstance(node, ast.keyword) and node.arg in KEYWORDS:
            found.add(node.arg)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            found |= {f"SQL {hit.group()}" for hit in SQL.finditer(node.value)}
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
            found |= {"import by text"}
    return found


def generators(source: str) -> bool:
    """Whether a module asks a noise source for an ordinary generator."""
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "generator"
        for node in ast.walk(ast.parse(source))
    )


def sources() -> dict[str, str]:
    """Every module of the engine and the dashboard, but the doors."""
    files = [path for package in ("core", "dashboard") for path in sorted((ROOT / package).rglob("*.py"))]
    texts = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in files}
    return {name: text for name, text in texts.items() if name not in DOORS}


PLANTED = [
    "import random",
    "import random as dice",
    "from random import gauss",
    "from numpy import random",
    "from numpy.random import default_rng as quick",
    "noisy = true + np.random.laplace(0, 1)",
    "noisy = numpy.random.default_rng(0).normal()",
    "import secrets",
    "from os import urandom",
    "os.urandom(8)",
    "os.getrandom(8)",
    "import uuid",
    "from uuid import uuid4",
    "from scipy.stats import laplace",
    "distribution.rvs(10)",
    "frame.sample(10, random_state=generator)",
    "engine.execute('SELECT * FROM taken ORDER BY random()')",
    "engine.execute('SELECT * FROM taken USING SAMPLE 10')",
    "importlib.import_module('secrets')",
    "importlib.import_module(name)",
    "__import__('random')",
]


@pytest.mark.parametrize("line", PLANTED)
def test_a_planted_source_is_caught(line: str) -> None:
    text = sources()["core/mechanisms/direct/laplace.py"]
    assert not other_randomness(text)
    assert other_randomness(f"{text}\n\n{line}\n")


@pytest.mark.parametrize(
    "line",
    [
        "def draw(generator: np.random.Generator) -> None: generator.random(3)",
        "from numpy.random import Generator",
        'def net() -> None:\n    """Databases that are chosen at random (uuid)."""',
        'option(choices=("auto", "all", "random"))',
        "generator.permutation(codes)",
    ],
)
def test_what_was_handed_over_is_no_source(line: str) -> None:
    assert not other_randomness(line)


def test_nothing_draws_behind_the_door() -> None:
    found = {(name, use) for name, text in sources().items() for use in other_randomness(text)}
    assert len(sources()) > 100
    assert found - set(ALLOWED) == set(), "noise must come from core/privacy/noise.py; argue any other use in ALLOWED"
    assert set(ALLOWED) - found == set(), "no longer used: take it off the list"


@pytest.mark.exhaustive
def test_every_ordinary_generator_is_argued_for() -> None:
    assert generators("public = noise.generator()")
    assert {name for name, text in sources().items() if generators(text)} == set(POST_PROCESSING)
    assert all(len(reason) > 20 for reason in (*POST_PROCESSING.values(), *ALLOWED.values()))
