"""A memory that forgets: of what was computed for a page only the latest few values are kept."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any


def keep_latest(known: dict[Any, Any], key: Hashable, value: object, most: int) -> None:
    """Remember a value under a key, and at most so many in all: the oldest goes first.

    >>> known = {1: "a", 2: "b"}
    >>> keep_latest(known, 3, "c", most=2)
    >>> known
    {2: 'b', 3: 'c'}
    """
    for old in list(known)[: max(0, len(known) - most + 1)]:
        del known[old]
    known[key] = value
