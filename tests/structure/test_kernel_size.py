"""README tells how much there is to read in the trusted kernel, and that stays true."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
KERNEL = ROOT / "core" / "kernel"
README = (ROOT / "README.md").read_text(encoding="utf-8")
RUNS = ("kernel", "allowance", "asked", "noise_level", "sparse_vector", "remembered")
"""What measures, chooses, compares and counts what is left; every other file is kinds of questions."""
LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def lines_of_code(source: str) -> int:
    """Lines that hold more than comments and docstrings."""
    told: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            told |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    held = {line for each in tokens if each.type not in LAYOUT for line in range(each.start[0], each.end[0] + 1)}
    return len(held - told)


def kernel_lines() -> tuple[int, int]:
    """Of the files that run, and of the kinds of questions."""
    sizes = {path: lines_of_code(path.read_text(encoding="utf-8")) for path in KERNEL.rglob("*.py")}
    runs = sum(sizes[KERNEL / f"{name}.py"] for name in RUNS)
    return runs, sum(sizes.values()) - runs


def test_lines_are_counted() -> None:
    assert (
        lines_of_code(
            '"""Said."""\n\n# why\nx = 1\ny = (\n    2\n)\n\ndef f():\n    """Said."""\n    return """a\n"""\n'
        )
        == 7
    )


@pytest.mark.parametrize(("place", "words"), [(0, "what runs is"), (1, "kinds of questions are")])
def test_the_readme_says_how_much_there_is_to_read(place: int, words: str) -> None:
    [said] = re.findall(rf"{words} about ([\d,]+) lines", README)
    assert kernel_lines()[place] == pytest.approx(int(said.replace(",", "")), rel=0.1)


def test_what_runs_stays_small() -> None:
    assert kernel_lines()[0] <= 600
