"""Where a change is judged, a test draws the same noise every time, and no two tests the same."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from core.privacy import samplers
from core.privacy.noise import Noise
from tests.draws import NamedDraws


@pytest.fixture
def draws(monkeypatch: pytest.MonkeyPatch) -> NamedDraws:
    draws = NamedDraws()
    monkeypatch.setattr(samplers, "words", draws.words)
    return draws


def noise() -> list[int]:
    return Noise().laplace(np.zeros(20, dtype=np.int64), epsilon=Fraction(1, 50), sensitivity=1).tolist()


def test_a_name_gives_its_own_noise_every_time(draws: NamedDraws) -> None:
    draws.begin("one")
    first, next_one = noise(), noise()
    draws.begin("two")
    other = noise()
    draws.begin("one")
    assert noise() == first
    assert first != next_one
    assert first != other


def test_a_given_seed_counts(draws: NamedDraws) -> None:
    assert draws.generator(5).random() == draws.generator(5).random()
    assert draws.generator().random() != draws.generator().random()
