"""The mistakes of a grid in few lines: what is wrong with many columns alike is said once."""

from __future__ import annotations

import re
from collections.abc import Sequence

FIRST = 3
"""Columns that are named where more have the same mistake."""
_OF_ONE = re.compile(r"Column ('.*?') (\S.*)", re.DOTALL)


def gathered(problems: Sequence[str]) -> list[str]:
    """Sentences that differ in their column only, as one, where the first of them was.

    >>> gathered(["Column 'a' is empty.", "No rows.", "Column 'b' is empty."])
    ["Column 'a' is empty.", 'No rows.', "Column 'b' is empty."]
    >>> gathered([f"Column '{name}' is empty." for name in "abcde"])
    ["5 columns ('a', 'b', 'c' and 2 more): each is empty."]
    """
    alike: dict[str, list[tuple[str, str]]] = {}
    for problem in problems:
        found = _OF_ONE.fullmatch(problem)
        alike.setdefault(found[2] if found else problem, []).append((problem, found[1] if found else ""))
    lines: list[str] = []
    for problem in problems:
        found = _OF_ONE.fullmatch(problem)
        group = alike[found[2]] if found else [(problem, "")]
        if found is None or len(group) <= FIRST:
            lines.append(problem)
        elif group[0][0] == problem:
            named = ", ".join(name for _, name in group[:FIRST])
            lines.append(f"{len(group)} columns ({named} and {len(group) - FIRST} more): each {found[2]}")
    return lines
