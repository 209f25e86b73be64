"""A benchmark that was stopped goes on where it ended, and never with parts of other code."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench import coverage
from tests.bench.kit import progress


def made(calls: list[int]) -> list[int]:
    calls.append(1)
    return [len(calls)]


def test_a_finished_part_is_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, calls = tmp_path / "parts.jsonl", list[int]()
    monkeypatch.setenv(progress.PROGRESS, str(file))
    assert [progress.kept(key, lambda: made(calls)) for key in ("a", "b", "a")] == [[1], [2], [1]]
    with file.open("a") as killed:
        killed.write('{"code": "cut o')
    assert progress.kept("b", lambda: made(calls)) == [2]
    monkeypatch.setattr(progress, "code_digest", lambda: "other code")
    assert [progress.kept("b", lambda: made(calls)) for _ in range(2)] == [[3], [3]]


def test_without_a_file_every_part_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(progress.PROGRESS, raising=False)
    calls = list[int]()
    assert [progress.kept("a", lambda: made(calls)) for _ in range(2)] == [[1], [2]]


def test_portions_ask_as_much_as_the_whole() -> None:
    tally = coverage.in_portions(
        "a few", 2_500, lambda questions, first: coverage.Counter({("asked", True): questions})
    )
    assert tally == {("asked", True): 2_500}
