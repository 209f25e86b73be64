"""The constants of the median mechanism as the thesis sets them (T 4.2), for one schema and budget."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from core.kernel.kernel import Kernel
from core.privacy.events import Laplace
from core.theory.median import MedianBound


@dataclass(frozen=True, kw_only=True)
class Thesis:
    """The constants of T for one schema and budget."""

    bound: MedianBound
    alpha: float
    questions: int
    epsilon: Fraction
    """Of the whole session but its number of rows; T's alpha."""

    @property
    def share(self) -> Laplace:
        """e', rounded down to one over a whole number."""
        return Laplace(self.epsilon / math.ceil(720 * self.bound.log_net(self.alpha)))

    @property
    def testing(self) -> Laplace:
        """e'/2, the price of a test: T's noise is scaled to twice what a unit changes (`loss.py`)."""
        return Laplace(self.share.epsilon / 2)

    @property
    def hard(self) -> int:
        return min(self.questions, math.floor(self.bound.hard(self.alpha)))

    @property
    def spent(self) -> Fraction:
        return 2 * self.questions * self.share.epsilon

    def threshold(self, rows: float, kernel: Kernel) -> float:
        """A random part of the width, 1/4 - j gamma, with probability proportional to 2^-j."""
        gap = self.bound.gap(self.alpha, max(1, round(rows)), float(self.epsilon))
        most = math.floor(0.15 / gap) if gap > 0 else 63
        place = _halvings(kernel) if most else 0
        while place > most:
            place = _halvings(kernel)
        return 0.25 - place * gap if place else 0.25


def _halvings(kernel: Kernel) -> int:
    """A number j with probability 2^-(j+1): the zeros before the first one of a random word."""
    word = int(kernel.keys(1)[0])
    return 64 if word == 0 else (word & -word).bit_length() - 1
