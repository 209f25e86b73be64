"""Directions with the shape of a polytope of histograms, for a walk through it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.base.arrays import Floats
from core.models.polytope.polytope import Polytope


@dataclass(frozen=True, eq=False)
class BodyShape:
    """Random directions with the shape of the body around its centre: normal, with the inverse of the Hessian of the
    sum of log distances as covariance, among those that keep the total mass."""

    body: Polytope
    middle: Floats
    tight: Floats
    """Inverse distance of the centre from the limits of each slab."""
    inner: Floats
    even: Floats

    @classmethod
    def of(cls, body: Polytope, middle: Floats) -> BodyShape:
        at = body.weights @ middle
        tight = np.sqrt(1 / (at - body.low) ** 2 + 1 / (body.high - at) ** 2)
        among = (body.weights * middle**2) @ body.weights.T
        inner: Floats = np.linalg.inv(np.diag(1 / tight**2) + among).astype(np.float64)
        shape = cls(body, middle, tight, inner, np.zeros(0))
        return cls(body, middle, tight, inner, shape._solved(np.ones((1, middle.size)))[0])

    def _solved(self, right: Floats) -> Floats:
        flat = right * self.middle**2
        return np.asarray(flat - (flat @ self.body.weights.T @ self.inner @ self.body.weights) * self.middle**2)

    def directions(self, chains: int, generator: np.random.Generator) -> Floats:
        cells = generator.normal(size=(chains, self.middle.size)) / self.middle
        slabs = (generator.normal(size=(chains, self.tight.size)) * self.tight) @ self.body.weights
        drawn = self._solved(cells + slabs)
        return drawn - self.even * (drawn.sum(axis=1, keepdims=True) / self.even.sum())
