"""A noise source that writes down what it is asked and can give the same noise again on another table.

If a mechanism runs on two neighbouring tables with the same frozen noise, then (1) it must ask for the same kinds of
noise, with the same parameters, in the same order: otherwise its control flow depends on the data beyond what was paid
for; (2) the hidden values may differ by at most the sensitivity it declared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import special

from core import privacy
from core.privacy import Cost, Event


@dataclass(frozen=True, eq=False)
class Call:
    kind: str
    hidden: np.ndarray
    amount: Fraction
    sensitivity: int
    frozen: Any
    """The noise that was added, or the index that was chosen."""

    @property
    def event(self) -> Event:
        return EVENTS[self.kind](self.amount)

    def distance(self, other: Call) -> float:
        """How far the hidden values of the same call on a neighbour are, in the norm its privacy proof uses."""
        moved = self.hidden.astype(float) - other.hidden.astype(float)
        return NORMS[self.kind](moved)


    def loss(self, other: Call) -> float:
        """The largest privacy loss over ALL outcomes of this call on a neighbour, exactly; infinite for Gaussians."""
        if self.kind == "laplace":
            return float(self.amount) * self.distance(other) / self.sensitivity
        if self.kind == "gaussian":
            return np.inf
        rate = float(self.amount) / (2 * self.sensitivity)
        return float(np.abs(_log_odds(self, rate) - _log_odds(other, rate)).max())


def _log_odds(call: Call, rate: float) -> np.ndarray:
    """Logarithm of the probability of every outcome of a selection."""
    scores = call.hidden.astype(float)
    if call.kind == "select_pair":
        differences = scores[None, :] - scores[:, None]
        scores = differences[~np.eye(len(scores), dtype=bool)]
    return special.log_softmax(rate * scores)


EVENTS = {
    "laplace": privacy.Laplace,
    "gaussian": privacy.Gaussian,
    "select": privacy.Selection,
    "select_pair": privacy.Selection,
}
NORMS = {
    "laplace": lambda moved: np.abs(moved).sum(),
    "gaussian": lambda moved: (moved**2).sum(),
    "select": lambda moved: np.abs(moved).max(initial=0),
    # The largest change of any difference scores[j] - scores[i].
    "select_pair": np.ptp,
}


class Recorder:
    """Records calls; with a script it repeats the script's noise instead of drawing."""

    def __init__(self, seed: int, script: Sequence[Call] = ()) -> None:
        self.calls: list[Call] = []
        self._seed = seed
        self._random = np.random.default_rng(seed)
        self._script = list(script)

    def laplace(self, values, *, epsilon, sensitivity):
        scale = float(sensitivity / epsilon)
        drawn = lambda: np.rint(self._random.laplace(0, scale, np.shape(values))).astype(np.int64)  # noqa: E731
        return values + self._note("laplace", values, epsilon, sensitivity, drawn)

    def gaussian(self, values, *, rho, sensitivity_squared):
        sigma = float(sensitivity_squared / (2 * rho)) ** 0.5
        drawn = lambda: np.rint(self._random.normal(0, sigma, np.shape(values))).astype(np.int64)  # noqa: E731
        return values + self._note("gaussian", values, rho, sensitivity_squared, drawn)

    def select(self, scores, *, epsilon, sensitivity):
        weights = np.exp((scores - scores.max()) * float(epsilon / (2 * sensitivity)))
        drawn = lambda: int(self._random.choice(len(scores), p=weights / weights.sum()))  # noqa: E731
        return self._note("select", scores, epsilon, sensitivity, drawn)

    def select_pair(self, scores, *, epsilon, sensitivity):
        rate = float(epsilon / (2 * sensitivity))
        weights = np.exp((scores - scores.max()) * rate)[None, :] * np.exp((scores.min() - scores) * rate)[:, None]
        np.fill_diagonal(weights, 0)
        drawn = lambda: divmod(int(self._random.choice(weights.size, p=weights.ravel() / weights.sum())), len(scores))  # noqa: E731
        return self._note("select_pair", scores, epsilon, sensitivity, drawn)

    def generator(self):
        return np.random.default_rng(self._seed)

    def cost(self) -> Cost:
        """What the accountant is to charge for everything that was asked."""
        return Cost.of(call.event for call in self.calls)

    def _note(self, kind, hidden, amount, sensitivity, draw):
        place = len(self.calls)
        assert not self._script or place < len(self._script), "the neighbour asked for more noise"
        frozen = self._script[place].frozen if self._script else draw()
        hidden = np.array(hidden)
        assert hidden.dtype.kind == "i", "noise must be added to integers"
        self.calls.append(Call(kind, hidden, Fraction(amount), int(sensitivity), frozen))
        return frozen
