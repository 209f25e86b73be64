"""What README shows as an example is run as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PATHS = re.findall(r"`((?:core|dashboard|tests|data|\.github)/[\w./-]+)`", README)


@pytest.mark.exhaustive
def test_the_python_example_runs(workspace, monkeypatch, small_trials):
    [example] = re.findall(r"```python\n(.*?)```", README, re.S)
    monkeypatch.chdir(ROOT)
    names: dict = {}
    exec(compile(example, "README.md", "exec"), names)
    assert len(names["release"].records()) > 1_000
    assert names["plan"].expected_error.mean > 0
    answer = names["session"].answer(names["question"]("smoker = false", names["session"].domain))
    assert 0 < answer.share < 1
    names["desk"].close()


@pytest.mark.parametrize(
    "path", sorted(set(re.findall(r"`((?:core|dashboard|tests|data|\.github)/[\w./-]+)`", README)))
)
def test_every_path_that_it_names_exists(path):
    assert (ROOT / path).exists()
