"""Meet a noisy table to within its noise: multipliers with a dead zone.

Among all models that miss no cell by more than its noise, the one nearest to the start has multipliers exp(push) per
cell that maximise the dual, target x push - sigma |push| - log of the total (Dudík, Phillips and Schapire 2007). For
one table at a time the best push has a closed form: iterative proportional fitting to the nearer end of
[target - sigma, target + sigma], where an earlier push that is no longer needed is taken back first.
"""

from __future__ import annotations

import numpy as np

from core.base.arrays import Floats

_SMALLEST = 1e-300


class Slack:
    """Bounds of one table, and the pushes (logarithms of multipliers) it has given so far."""

    def __init__(self, target: Floats, slack: float | Floats) -> None:
        width = np.maximum(slack, max(1e-9 * float(np.abs(target).sum()), _SMALLEST))
        self.low = np.maximum(target - width, 0.0)
        # A cell whose noisy count lies far below zero is empty, up to a share that keeps logarithms finite.
        self.high = np.maximum(target + width, 0.01 * width)
        self.push = np.zeros_like(self.low)

    def factor(self, mass: Floats) -> Floats:
        """What each cell is to be multiplied with, given what it holds now."""
        some = mass > 0
        mass = np.maximum(mass, _SMALLEST)
        with np.errstate(divide="ignore"):
            up = np.log(self.low / mass)
        down = np.log(self.high / mass)
        change = np.where(self.push + up > 0, up, np.where(self.push + down < 0, down, -self.push))
        # what is empty stays empty, however hard it is pushed
        change = np.where(some, change, 0.0)
        self.push = self.push + change
        return np.exp(change)
