"""A noise source that writes down what it is asked and can give the same answers again on another table.

The privacy proof of a mechanism compares two neighbouring tables step by step, given the same answers so far. So if a
mechanism runs on a table and then, with the recorded answers, on a neighbour: (1) it must ask for the same kinds of
noise, with the same parameters, in the same order, otherwise its control flow depends on the data beyond what was paid
for; (2) the hidden values may differ by at most the sensitivity it declared; (3) it must release the same thing to the
last bit, otherwise something reached the release without passing through the noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from scipy import special

from core.privacy import events as privacy
from core.privacy.events import Cost, Event


@dataclass(frozen=True, eq=False)
class Mark:
    """What a sparse vector draws for; see `sessions.told_apart`."""

    use: Literal["offset", "comparison"]
    run: Any
    """Its `AboveThreshold`."""
    threshold: int = 0
    offset: int = 0
    """What the threshold and the secret offset of a comparison are."""


@dataclass(frozen=True, eq=False)
class Call:
    kind: str
    hidden: np.ndarray
    amount: Fraction
    sensitivity: int
    answer: Any
    """The noisy values, or what was chosen."""
    mark: Mark | None = None
    """None for everything that is released."""

    @property
    def event(self) -> Event | None:
        """What the accountant is to charge; a run of comparisons is one pure event, charged with its offset."""
        if self.kind in TOGETHER:
            return None
        if self.mark is None:
            return EVENTS[self.kind](self.amount)
        return privacy.Pure(self.mark.run.epsilon) if self.mark.use == "offset" else None

    def distance(self, other: Call) -> float:
        """How far the hidden values of the same call on a neighbour are, in the norm its privacy proof uses."""
        moved = self.hidden.astype(float) - other.hidden.astype(float)
        return NORMS[self.kind](moved)

    def loss(self, other: Call) -> float:
        """The largest privacy loss over ALL outcomes of this call on a neighbour, exactly; infinite for Gaussians."""
        if self.kind in ("laplace", "cube"):
            return float(self.amount) * self.distance(other) / self.sensitivity
        if self.kind == "gaussian":
            return np.inf
        if self.kind in TOGETHER:
            return 0.0
        rate = float(self.amount) / (self.sensitivity if self.kind == "select_within" else 2 * self.sensitivity)
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
    "cube": privacy.Pure,
    "select": privacy.Selection,
    "select_within": privacy.Selection,
    "select_pair": privacy.Selection,
}
NORMS = {
    "laplace": lambda moved: np.abs(moved).sum(),
    "gaussian": lambda moved: (moved**2).sum(),
    "cube": lambda moved: np.abs(moved).max(initial=0),
    "select": lambda moved: np.abs(moved).max(initial=0),
    # The largest change of any difference scores[j] - scores[i].
    "select_within": np.ptp,
    "select_pair": np.ptp,
    "pick": lambda moved: 0.0,
    "exceeds": lambda moved: np.abs(moved).sum(),
}
TOGETHER = ("pick", "exceeds")
"""Steps whose privacy is that of all of them together: `test_vertex_order.py`, `test_crowding.py`."""


class Recorder:
    """Records calls; with a script it repeats the script's answers instead of drawing."""

    now: Mark | None = None

    def __init__(self, seed: int, script: Sequence[Call] = ()) -> None:
        self.calls: list[Call] = []
        self._seed = seed
        self._random = np.random.default_rng(seed)
        self._script = list(script)

    def laplace(self, values, *, epsilon, sensitivity):
        def drawn():
            scale = float(sensitivity / epsilon)
            return values + np.rint(self._random.laplace(0, scale, np.shape(values))).astype(np.int64)

        return self._note("laplace", values, epsilon, sensitivity, drawn)

    def gaussian(self, values, *, rho, sensitivity_squared):
        def drawn():
            sigma = float(sensitivity_squared / (2 * rho)) ** 0.5
            return values + np.rint(self._random.normal(0, sigma, np.shape(values))).astype(np.int64)

        return self._note("gaussian", values, rho, sensitivity_squared, drawn)

    def cube(self, values, *, epsilon, sensitivity):
        def drawn():
            size = self._random.gamma(np.size(values) + 1, float(sensitivity / epsilon))
            return values + np.rint(self._random.uniform(-size, size, np.shape(values))).astype(np.int64)

        return self._note("cube", values, epsilon, sensitivity, drawn)

    def select(self, scores, *, epsilon, sensitivity):
        def drawn():
            odds = special.softmax((scores - scores.max()) * float(epsilon / (2 * sensitivity)))
            return int(self._random.choice(len(scores), p=odds))

        return self._note("select", scores, epsilon, sensitivity, drawn)

    def select_within(self, scores, *, epsilon, span):
        def drawn():
            odds = special.softmax((scores - scores.max()) * float(epsilon / span))
            return int(self._random.choice(len(scores), p=odds))

        return self._note("select_within", scores, epsilon, span, drawn)

    def pick(self, weights):
        """A step of a `VertexOrder`, whose privacy is that of the whole order (`test_vertex_order.py`)."""
        return self._note(
            "pick", weights, 0, 1, lambda: int(self._random.choice(len(weights), p=weights / weights.sum()))
        )

    def exceeds(self, values, *, epsilon, sensitivity):
        """A step of a `Crowding`."""

        def drawn():
            scale = float(sensitivity / epsilon)
            return values + np.rint(self._random.laplace(0, scale, np.shape(values))) >= 1

        return self._note("exceeds", values, epsilon, sensitivity, drawn)

    def select_pair(self, scores, *, epsilon, sensitivity):
        def drawn():
            rate = float(epsilon / (2 * sensitivity))
            weights = np.exp((scores - scores.max()) * rate)[None, :] * np.exp((scores.min() - scores) * rate)[:, None]
            np.fill_diagonal(weights, 0)
            return divmod(int(self._random.choice(weights.size, p=weights.ravel() / weights.sum())), len(scores))

        return self._note("select_pair", scores, epsilon, sensitivity, drawn)

    def keys(self, count):
        """Words for public choices; they do not depend on the table."""
        return np.random.default_rng(len(self.calls)).integers(1, 2**63, count).astype(np.uint64)

    def generator(self):
        return np.random.default_rng(self._seed)

    def cost(self) -> Cost:
        """What the accountant is to charge for everything that was asked."""
        return self.priced(self.calls)

    @staticmethod
    def priced(calls: Sequence[Call]) -> Cost:
        return Cost.of(event for call in calls if (event := call.event) is not None)

    def _note(self, kind, hidden, amount, sensitivity, draw):
        place = len(self.calls)
        assert not self._script or place < len(self._script), "the neighbour asked for more noise"
        hidden = np.array(hidden)
        assert hidden.dtype.kind == "i", "noise must be added to integers"
        if self._script:
            assert hidden.shape == self._script[place].hidden.shape, "the neighbour was asked another question"
        answer = self._script[place].answer if self._script else draw()
        self.calls.append(Call(kind, hidden, Fraction(amount), int(sensitivity), answer, self.now))
        return answer
