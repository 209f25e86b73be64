"""What the documents show and name is there: README's example runs as it stands, paths and links lead somewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = (
    "README.md",
    "core/README.md",
    "dashboard/README.md",
    "data/README.md",
    "tests/README.md",
    "tests/bench/README.md",
    ".github/CONTRIBUTING.md",
    ".github/SECURITY.md",
)


def named(pattern: str) -> Iterator[tuple[str, str]]:
    """Documents and what the pattern finds in them, each once."""
    for document in DOCUMENTS:
        text = (ROOT / document).read_text(encoding="utf-8")
        yield from ((document, found) for found in sorted(set(re.findall(pattern, text))))


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


@pytest.mark.parametrize(("document", "path"), list(named(r"`((?:core|dashboard|tests|data|\.github)/[\w./-]+)`")))
def test_every_path_that_is_named_exists(document, path):
    assert (ROOT / path).exists()


@pytest.mark.parametrize(("document", "link"), list(named(r"\]\(([^)\s]+)\)")))
def test_every_link_leads_somewhere(document, link):
    path, _, heading = link.partition("#")
    target = (ROOT / document).parent / path
    assert target.exists()
    if heading:
        headings = re.findall(r"^#+ (.+)$", target.read_text(encoding="utf-8"), re.M)
        assert heading in {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings}


def test_readme_can_be_read():
    """It is for a curator first: what is long stands in the documents that it leads to."""
    assert len(README) < 20_000
