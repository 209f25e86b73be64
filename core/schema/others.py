"""A word for all values that a list of categories does not name."""

from __future__ import annotations

from collections.abc import Collection

WORDS = ("other", "something else", "none of these", "not listed")


def other_than(values: Collection[str]) -> str:
    """The first usual word that is not a value itself; where all of them are, one with a number.

    >>> other_than(["red"]), other_than(["other", "something else", "none of these", "not listed", "other 2"])
    ('other', 'other 3')
    """
    words = (*WORDS, *(f"{WORDS[0]} {place}" for place in range(2, len(values) + 3)))
    return next(word for word in words if word not in values)
