"""README's test command leaves cases out, but never the last case of a mechanism, class or page."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.crossings import kept, thin


class Case:
    """As much of a collected test as thinning looks at."""

    def __init__(self, test: str, place: int, name: str, *markers: Any) -> None:
        self.nodeid, self.callspec = f"{test}[{place}]", SimpleNamespace(params={"name": name, "place": place})
        self.markers = {each.name: each for each in markers}

    def get_closest_marker(self, name: str) -> Any:
        return self.markers.get(name)

    def add_marker(self, name: str) -> None:
        self.markers[name] = name


@pytest.mark.parametrize("keep", [1, 2, 5, 30])
def test_so_many_stay(keep: int) -> None:
    for cases in range(1, 30):
        for start in range(3):
            assert len(kept(cases, keep, start)) == min(keep, cases)
            assert kept(cases, keep, start) <= set(range(cases))


def test_each_value_stays_and_meets_other_partners() -> None:
    crossing = pytest.mark.crossing(keep=1, each="name").mark
    cases = [Case("t", place, name, crossing) for name in "abc" for place in range(4)]
    thin(cases)
    left = [case.callspec.params for case in cases if "exhaustive" not in case.markers]
    assert [each["name"] for each in left] == list("abc")
    assert len({each["place"] for each in left}) == 3


def test_other_tests_are_left_alone() -> None:
    slow = [Case("s", place, "a", pytest.mark.slow.mark, pytest.mark.crossing(keep=1).mark) for place in range(3)]
    plain = [Case("p", place, "a") for place in range(3)]
    thin([*slow, *plain])
    assert not any("exhaustive" in case.markers for case in (*slow, *plain))
