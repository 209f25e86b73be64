"""What was worked out of single values, kept for the next piece of rows: columns have few values, and pieces are many.

As private as the values. It lives as long as one reading of a table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from types import NoneType
from typing import Generic, TypeVar

MOST = 4_096
"""Values of a column that are remembered; where a piece has more, all are worked out again."""
_EXACT = frozenset((str, int, bool, NoneType))
_SPELT = frozenset((float, Decimal, date, datetime, time))
"""Equal ones may differ: 0.0 and -0.0, 1.0 and 1.00, one moment in two places. Those that are spelt alike do not."""
T = TypeVar("T")


class ValueMemory(Generic[T]):
    """Applies to each value what looks at it alone, once.

    How a value is read must not hang on what was read before it. So values are the same only if nothing tells them
    apart, their types included; what is of a type that is not known here is never remembered.

    >>> asked = []
    >>> memory = ValueMemory(lambda values: asked.extend(values) or [str(value) for value in values])
    >>> memory.of([1, 2]), memory.of([2, 3, True]), asked
    (['1', '2'], ['2', '3', 'True'], [1, 2, 3, True])
    """

    def __init__(self, work: Callable[[Sequence[object]], list[T]]) -> None:
        self._work = work
        self._known: dict[tuple[type, object], T] = {}

    def of(self, values: Sequence[object]) -> list[T]:
        if len(values) > MOST:
            return self._work(values)
        keys = [(type(value), repr(value) if type(value) in _SPELT else value) for value in values]
        if not all(kind in _EXACT or kind in _SPELT for kind, _ in keys):
            return self._work(values)
        new = {key: value for key, value in zip(keys, values, strict=True) if key not in self._known}
        if len(self._known) + len(new) > MOST:
            self._known, new = {}, dict(zip(keys, values, strict=True))
        if new:
            self._known.update(zip(new, self._work(list(new.values())), strict=True))
        return [self._known[key] for key in keys]
