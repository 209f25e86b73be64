"""Advantages on made-up scores and guesses: what is known of them by construction."""

from __future__ import annotations

import math

import numpy as np
import pytest

from core.attacks.inference import Advantage, Targets, attribute, membership
from core.base.errors import BadParameter
from tests.core.attacks.people import invented


class Told:
    """A publication that gives scores and guesses away."""

    name = "told"

    def __init__(self, scores, guesses):
        self._scores, self._guesses = scores, guesses

    def suspicions(self, targets, reference):
        return self._scores

    def guesses(self, targets, secret):
        return self._guesses


def targets(count: int) -> Targets:
    inside = np.arange(count) % 2 == 0
    return Targets(rows=invented(count), inside=inside, reference=invented(10))


def test_scores_that_know_everything_and_nothing():
    """By chance 1,000 targets seem to tell 0 with a standard error of 0.032: five of these."""
    those = targets(1_000)
    generator = np.random.default_rng()
    chance = Told({"chance": generator.random(1_000), "more chance": generator.random(1_000)}, {})
    assert abs(membership(chance, those).value) < 0.16
    knowing = Told({"chance": generator.random(1_000), "known": those.inside.astype(float)}, {})
    found = membership(knowing, those)
    assert (found.right, found.false, found.value, found.spread) == (1.0, 0.0, 1.0, 0.0)


def test_constant_scores_call_nobody_or_everybody():
    assert membership(Told({"same": np.zeros(100)}, {}), targets(100)).value == 0


def test_what_is_right_outside_as_well_is_no_harm():
    those = targets(400)
    truth = those.rows[:, 6]
    always = Told({}, {"all": truth})
    assert attribute(always, those, 6).value == 0
    inside_only = Told({}, {"inside": np.where(those.inside, truth, 1 - truth), "none": 1 - truth})
    assert attribute(inside_only, those, 6).value == 1


def test_the_spread_is_that_of_two_shares():
    found = Advantage(right=0.6, false=0.4, targets=1_000)
    assert found.spread == pytest.approx(math.sqrt(2 * 0.24 / 500))


def test_both_kinds_of_targets_are_needed():
    with pytest.raises(BadParameter, match="half of them"):
        Targets(rows=invented(10), inside=np.ones(10, dtype=bool), reference=invented(1))
