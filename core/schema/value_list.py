"""Lists of values in one cell of text: `north | south | 3 | "3"`.

A bare whole number is a number; quotes make it a text and allow a bar or a line break inside.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

WHOLE = re.compile(r"-?(0|[1-9][0-9]*)")
_ITEM = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[^|\n]*?)\s*(?:[|\n]|$)')


def write_values(values: Iterable[object]) -> str:
    """
    >>> write_values(["north", 3, "3"])
    'north | 3 | "3"'
    """
    return " | ".join(_quoted(value) if isinstance(value, str) else str(value) for value in values)


def read_values(text: str) -> list[str | int]:
    """
    >>> read_values('north | 3 | "3"')
    ['north', 3, '3']
    """
    return [_value(item) for item in (match.group(1) for match in _ITEM.finditer(text)) if item]


def _quoted(text: str) -> str:
    bare = text == text.strip() and not WHOLE.fullmatch(text) and not re.search(r'[|\n"]', text)
    return text if bare else json.dumps(text, ensure_ascii=False)


def _value(item: str) -> str | int:
    if WHOLE.fullmatch(item):
        return int(item) if len(item.lstrip("-")) < 19 else item
    if len(item) > 1 and item[0] == item[-1] == '"':
        try:
            return str(json.loads(item))
        except ValueError:
            return item
    return item
