"""A few cases of a long crossing in README's test command, all the others after it.

A test that crosses mechanisms with units, budgets and tables is marked `crossing(keep=2)`, or `crossing(keep=1,
each="name")` if every value of one of its parameters must stay. Spread evenly over its cases, so many of them stay; the
others get the marker `exhaustive`, which README's test command leaves out and `.ci/run` runs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import pytest


def kept(cases: int, keep: int, start: int = 0) -> set[int]:
    """Places that are spread evenly over so many cases; another start gives other places.

    >>> sorted(kept(16, 4)), sorted(kept(16, 4, start=1)), sorted(kept(2, 4))
    ([0, 5, 10, 15], [0, 1, 6, 11], [0, 1])
    """
    staying = min(keep, cases)
    step = (cases - 1) / max(staying - 1, 1)
    return {(round(place * step) + start) % cases for place in range(staying)}


def _value(item: pytest.Item, parameter: str) -> str:
    value: Any = item.callspec.params[parameter]  # type: ignore[attr-defined]
    return str(getattr(value, "name", None) or getattr(value, "__name__", value))


def thin(items: Iterable[pytest.Item]) -> None:
    """Mark all but a few cases of each crossing as exhaustive."""
    crossings: dict[Any, dict[str, list[pytest.Item]]] = defaultdict(lambda: defaultdict(list))
    for item in items:
        marker = item.get_closest_marker("crossing")
        if marker and not item.get_closest_marker("slow"):
            each = marker.kwargs.get("each")
            crossings[item.nodeid.partition("[")[0]][_value(item, each) if each else ""].append(item)
    for groups in crossings.values():
        for start, cases in enumerate(groups.values()):
            marker = cases[0].get_closest_marker("crossing")
            assert marker is not None
            staying = kept(len(cases), marker.kwargs["keep"], start)
            for place, item in enumerate(cases):
                if place not in staying:
                    item.add_marker("exhaustive")
                    item.add_marker("crossed")
