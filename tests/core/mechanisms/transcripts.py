"""Exact probabilities of what a sparse vector says, by running its own code on forced noise.

The code is asked what it does with each offset and each noisy value: where a comparison turns over is found by trying,
not assumed. The noise that the code asks for gives the probabilities, and the secret offset is summed out exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from core.base.errors import OutOfBudget
from core.kernel.sparse_vector import NumericSparse, OpenRun
from core.privacy.events import Event

REACH = 400
"""Noise beyond is so rare in these tests that it moves no probability by 10^-12 of itself."""
OFFSETS = np.arange(-REACH, REACH + 1)


class Forced:
    """A noise source that returns given values and writes down the scale that was asked for."""

    def __init__(self, *answers: int) -> None:
        self.answers, self.scales = list(answers), []

    def laplace(self, values, *, epsilon, sensitivity):
        self.scales.append(float(sensitivity / epsilon))
        return np.array([self.answers.pop(0) if self.answers else 0])


def pmf(values: np.ndarray, scale: float) -> np.ndarray:
    """Discrete Laplace."""
    return np.tanh(0.5 / scale) * np.exp(-np.abs(values) / scale)


def at_least(values: np.ndarray, scale: float) -> np.ndarray:
    """P(noise >= value)."""
    ratio = np.exp(-1 / scale)
    upper = ratio ** np.maximum(values, 0) / (1 + ratio)
    return np.where(values > 0, upper, 1 - ratio ** np.maximum(1 - values, 0) / (1 + ratio))


@dataclass(eq=False)
class Transcripts:
    """Probabilities of outcomes of one machine: True, False, or a released number, one for each value asked."""

    machine: Any
    threshold: int = 0
    _factors: dict = field(default_factory=dict)

    def log(self, values: tuple[int, ...], outcomes: tuple) -> float:
        """Log-probability of these outcomes, up to where the machine stops."""
        held, left, far = self._start(), self.machine.most, 0.0
        for value, outcome in zip(values, outcomes, strict=True):
            if left == 0:
                break
            held = held * self._factor(value, left, outcome)
            total = held.sum()
            if total == 0:
                return -np.inf
            far, held = far + np.log(total), held / total
            if outcome is not False:
                left, fresh = self._after(value, left)
                held = self._start() if fresh else held
        return far

    def _start(self) -> np.ndarray:
        noise = Forced(0)
        self.machine.start(noise, _paid)
        return pmf(OFFSETS, noise.scales[0]) if noise.scales else (OFFSETS == 0).astype(float)

    def _after(self, value: int, left: int) -> tuple[int, bool]:
        """What an outcome above leaves, and whether a new offset is drawn."""
        noise = Forced(10**6, 7)
        run = self._run(-(10**6), left)
        run.test(value, self.threshold, noise, _paid)
        return run.left, len(noise.scales) > 1

    def _run(self, offset: int, left: int) -> OpenRun:
        return OpenRun(run=self.machine.run, offset=offset, left=left)

    def _factor(self, value: int, left: int, outcome) -> np.ndarray:
        """P(outcome | offset) for every offset."""
        key = (value, left, outcome)
        if key not in self._factors:
            self._factors[key] = self._probabilities(value, left, outcome)
        return self._factors[key]

    def _probabilities(self, value: int, left: int, outcome) -> np.ndarray:
        noise = Forced(0)
        self._says(value, left, 0, noise)
        if not noise.scales:  # a machine without noise in its comparisons
            return np.array([float(self._says(value, left, int(z), Forced()) == outcome) for z in OFFSETS])
        scale = noise.scales[0]
        # The code compares a noisy value with threshold + offset, so where it turns over moves along with the offset.
        turn = self._turn(value, left, 0)
        assert self._turn(value, left, 25) - turn in (0, 25)
        turns = turn + (OFFSETS if self._turn(value, left, 25) > turn else 0)
        above = at_least(turns - value, scale)
        if outcome is True:
            return above
        if outcome is False:
            return 1 - above
        return np.where(turns <= outcome, pmf(np.array(outcome - value), scale), 0.0)

    def _turn(self, value: int, left: int, offset: int) -> int:
        low, high = -(10**4), 10**4
        assert self._says(value, left, offset, Forced(low)) is False
        while high - low > 1:
            middle = (low + high) // 2
            below = self._says(value, left, offset, Forced(middle)) is False
            low, high = (middle, high) if below else (low, middle)
        return high

    def _says(self, value: int, left: int, offset: int, noise: Forced):
        try:
            return self._run(offset, left).test(value, self.threshold, noise, _paid)
        except OutOfBudget:
            return None


def _paid(event: Event) -> None:
    """Nothing is reserved here: what is paid is added up by `stated`."""


def worst(machine: Any, cases) -> float:
    """The largest log-ratio of (values, neighbour's values, outcomes), in both directions."""
    seen = Transcripts(machine)
    pairs = ((seen.log(one, outcomes), seen.log(two, outcomes)) for one, two, outcomes in cases)
    return max(0.0 if one == two else abs(one - two) for one, two in pairs)


def stated(machine: NumericSparse) -> float:
    """The epsilon of all comparisons together."""
    return float(machine.run.epsilon) * machine.runs
