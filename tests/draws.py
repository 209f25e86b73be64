"""What the tests draw from: the operating system, or, where a change is judged, words that follow from a test's name.

A statistical check that holds in all but one of ten thousand runs fails somewhere among thousands of checks now and
then, and says nothing about the change that is judged. So there each test, and each fixture that several tests share,
begins a stream of its own; everywhere else, in every process that a test starts, and in tests that are marked
`fresh_draws` because they are about the operating system's randomness, the draws are fresh.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from core.privacy import samplers


class NamedDraws:
    """Words and generators that follow from a name; threads may share them, but then not in a fixed order."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._default_rng: Callable[..., np.random.Generator] = np.random.default_rng
        self.begin("")

    def begin(self, name: str) -> None:
        with self._lock:
            self._generator = self._default_rng(list(sha256(name.encode()).digest()))

    def words(self, count: int) -> NDArray[np.uint64]:
        with self._lock:
            return self._generator.bit_generator.random_raw(count)

    def generator(self, seed: Any = None) -> np.random.Generator:
        """In place of `default_rng`: a seed that was given counts."""
        return self._default_rng(list(self.words(4)) if seed is None else seed)


class SameDrawsPlugin:
    """Begins a stream for each test and for each fixture of more than one test."""

    def __init__(self) -> None:
        self.draws = NamedDraws()
        self._patch = pytest.MonkeyPatch()
        self._fresh = samplers.words

    def pytest_sessionstart(self) -> None:
        self._patch.setattr(samplers, "words", self.draws.words)
        self._patch.setattr(np.random, "default_rng", self.draws.generator)

    def pytest_unconfigure(self) -> None:
        self._patch.undo()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        self.draws.begin(f"{item.nodeid} setup")

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Any:
        self.draws.begin(item.nodeid)
        if item.get_closest_marker("fresh_draws") is None:
            return (yield)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(samplers, "words", self._fresh)
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest) -> Any:
        if fixturedef.scope == "function":
            return (yield)
        self.draws.begin(f"{fixturedef.baseid} {fixturedef.argname} {getattr(request, 'param', '')}")
        try:
            return (yield)
        finally:
            self.draws.begin(f"{request.node.nodeid} after {fixturedef.argname}")
