"""The mutation run makes the mistakes that it says and puts them where they are run; its exceptions are current."""

from __future__ import annotations

import ast
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from tests.privacy.mutation.__main__ import Tally
from tests.privacy.mutation.equivalent import EQUIVALENT, breaks_no_promise
from tests.privacy.mutation.graft import graft
from tests.privacy.mutation.mutator import mutations
from tests.privacy.mutation.runner import _noting_lines
from tests.privacy.mutation.tests_of import ROOT, TRUSTED
from tests.privacy.mutation.tests_of import tests_of as files_for

SOURCE = '''
"""A docstring with 3 numbers."""
LIMIT = 4
def scaled(value: int, factor: int = 2) -> int:
    """At most 4."""
    if value > LIMIT:
        raise ValueError(f"{1 + 1}")
    return min(value, 3) * factor
class Held:
    size = 5
    @property
    def half(self): return self.size // 2
'''

LOOP = """def loop(n):
    total = 0
    for each in range(n):
        if each > 1:
            total += 1
    return total
"""


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    made = types.ModuleType("mutated_sample")
    exec(SOURCE, made.__dict__)
    monkeypatch.setitem(sys.modules, made.__name__, made)
    return made


def test_small_mistakes_are_made_in_code_and_not_in_words() -> None:
    names = [each.name for each in mutations("x.py", SOURCE)]
    assert len(set(names)) == len(names), "each has a name of its own"
    assert not any("docstring" in name or "1 + 1" in name for name in names)
    for expected in (
        "x.py | LIMIT = 4 | half: 4",
        "x.py scaled | if value > LIMIT: | compared otherwise: value > LIMIT",
        "x.py scaled | def | plus 1: 2",
        "x.py scaled | return min(value, 3) * factor | max for min: min(value, 3)",
        "x.py scaled | return min(value, 3) * factor | without its second term: min(value, 3) * factor",
        "x.py Held | size = 5 | minus 1: 5",
    ):
        assert expected in names


def behaviour(module: types.ModuleType) -> list[object]:
    held = module.Held()
    return [*(_scaled(module, value) for value in (2, 4, 5)), module.LIMIT, held.size, held.half]


def _scaled(module: types.ModuleType, value: int) -> object:
    try:
        return module.scaled(value)
    except ValueError:
        return "refused"


@pytest.mark.exhaustive
def test_every_mistake_is_put_where_it_is_run(module: types.ModuleType) -> None:
    """Functions that were imported before have it too."""
    early, right = module.scaled, behaviour(module)
    for mutation in mutations("x.py", SOURCE):
        assert graft("mutated_sample", Path("x.py"), mutation.code(SOURCE)), mutation.name
        assert behaviour(module) != right, mutation.name
        assert module.scaled is early
        graft("mutated_sample", Path("x.py"), ast.parse(SOURCE))
        assert behaviour(module) == right


@pytest.mark.exhaustive
def test_exceptions_name_mistakes_that_can_be_made() -> None:
    names = [each.name for path in TRUSTED for each in mutations(path, (ROOT / path).read_text())]
    for key, reason in EQUIVALENT.items():
        assert reason and any(name.startswith(key) for name in names), key
    known = sum(breaks_no_promise(name) for name in names)
    assert known <= 0.15 * len(names), "an exception is an exception"
    assert all((ROOT / test).is_file() for path in TRUSTED for test in files_for(path))


def test_a_sample_fails_only_where_chance_does_not_explain_it() -> None:
    assert not Tally(60, ["x"] * 9).too_many
    assert Tally(60, ["x"] * 10).too_many


def test_lines_are_noted_although_functions_are_followed_no_longer_than_needed(tmp_path: Path) -> None:
    path = tmp_path / "watched.py"
    path.write_text(LOOP)
    made: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), made)
    for sizes, expected in (((2,), {1, 2, 3, 4, 6}), ((2, 0, 3, 9), {1, 2, 3, 4, 5, 6})):
        lines: dict[str, set[int]] = {}
        with _noting_lines({str(path): "watched"}, lines):
            for size in sizes:
                made["loop"](size)
        assert lines == {"watched": expected}


def test_an_exception_spares_no_other_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EQUIVALENT, "x.py f | y = 1 | half: 1", "a reason")
    monkeypatch.setitem(EQUIVALENT, "x.py | LIMIT = ", "another")
    spared = [breaks_no_promise(f"x.py f | y = 1 | half: 1{rest}") for rest in ("", "0", ".5", " (2)")]
    assert spared == [True, False, False, False]
    assert breaks_no_promise("x.py | LIMIT = 4 | half: 4")


def test_constants_are_tried_by_the_tests_that_name_them() -> None:
    sets = {each.name: each.sets for each in mutations("x.py", SOURCE)}
    assert sets["x.py | LIMIT = 4 | half: 4"] == {"LIMIT"}
    assert sets["x.py scaled | def | plus 1: 2"] == sets["x.py Held | size = 5 | minus 1: 5"] == frozenset()
