"""The search for garbage passes over what was loaded for good, and finds what was not."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from dashboard.loaded import MANY, PutAside


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    yield
    gc.unfreeze()


def test_programs_are_put_aside_when_more_of_them_were_loaded() -> None:
    kept = PutAside()
    assert kept.keep(500)
    assert gc.get_freeze_count() > 1_000
    assert not kept.keep(500 + MANY - 1), "a few modules are not worth it"
    assert kept.keep(500 + MANY)


def test_later_garbage_is_found() -> None:
    class Ring:
        def __init__(self) -> None:
            self.me = self

    PutAside().keep(MANY)
    found = weakref.ref(Ring())
    gc.collect()
    assert found() is None
