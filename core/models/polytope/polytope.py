"""Fractional histograms that agree with released answers: a simplex, cut by two halfspaces for every answer (T 4.4.1).

A point is one share for each possible record; shares are at least 0 and sum to 1. A released answer to a linear
question keeps the points whose own answer lies between two limits, a *slab*. Everything here is public: questions,
limits and points are made from released numbers only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Floats

_EXACT = 1e-9
"""How far a linear program or a long sum may be off."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Polytope:
    """A simplex cut by slabs.

    >>> body = Polytope.simplex(3).cut(np.array([1.0, 0.0, 0.0]), 0.2, 0.4)
    >>> body.inside(np.array([[0.3, 0.3, 0.4], [0.5, 0.2, 0.3]])).tolist()
    [True, False]
    """

    weights: Floats
    """One line per slab: the question's weight, 0 to 1, for every cell."""
    low: Floats
    high: Floats

    def __post_init__(self) -> None:
        for name in ("weights", "low", "high"):
            array = np.array(getattr(self, name), dtype=np.float64)
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        if self.weights.ndim != 2 or self.low.shape != (len(self.weights),) or self.high.shape != self.low.shape:
            raise ValueError("a polytope needs one line of weights and two limits for each slab")

    @classmethod
    def simplex(cls, cells: int) -> Polytope:
        """All histograms over so many cells."""
        return cls(weights=np.zeros((0, cells)), low=np.zeros(0), high=np.zeros(0))

    @property
    def cells(self) -> int:
        return int(self.weights.shape[1])

    @property
    def slabs(self) -> int:
        return len(self.weights)

    def cut(self, weights: Floats, low: float, high: float) -> Polytope:
        """The part in which a question's answer lies between two limits."""
        lines = np.concatenate([self.weights, np.asarray(weights, dtype=np.float64)[None]])
        return Polytope(weights=lines, low=np.append(self.low, low), high=np.append(self.high, high))

    def inside(self, points: Floats, slack: float = _EXACT) -> NDArray[np.bool_]:
        """Which of the points, one per line, belong to the body."""
        values = points @ self.weights.T
        histogram = (points >= -slack).all(axis=1) & (np.abs(points.sum(axis=1) - 1) <= slack)
        return histogram & ((values >= self.low - slack) & (values <= self.high + slack)).all(axis=1)

    def atoms(self) -> NDArray[np.int64]:
        """For every cell the number of its atom: cells that no slab tells apart share one."""
        return np.unique(self.weights, axis=1, return_inverse=True)[1].reshape(-1).astype(np.int64)

    def nearest(self, weights: Floats, target: float) -> tuple[Floats, float]:
        """A point of the body whose answer to a question is as near as possible to a target, and how near that is.

        **Runtime** one linear program over the atoms that the slabs and the question make of the cells, not over the
        cells: only the mass of an atom matters, and it is spread evenly.
        """
        finer = self.cut(weights, 0.0, 1.0)
        atoms = finer.atoms()
        sizes = np.bincount(atoms).astype(np.float64)
        first = np.unique(atoms, return_index=True)[1]
        lines, wanted = self.weights[:, first], finer.weights[-1, first]
        mass = _linear_program(lines, self.low, self.high, wanted, target)
        return (mass / sizes)[atoms], abs(float(wanted @ mass) - target)


def _linear_program(lines: Floats, low: Floats, high: Floats, wanted: Floats, target: float) -> Floats:
    """Masses of the atoms that minimise |wanted . mass - target| between the limits."""
    # Imported here: it takes a while, and a page must not wait for it.
    from scipy.optimize import linprog

    count = lines.shape[1]
    free = np.zeros((len(lines), 1))
    beyond = np.array([[-1.0], [-1.0]])
    upper = np.block(
        [
            [np.concatenate([lines, -lines]), np.concatenate([free, free])],
            [np.stack([wanted, -wanted]), beyond],
        ]
    )
    limits = np.concatenate([high, -low, [target, -target]])
    result = linprog(
        np.append(np.zeros(count), 1.0),
        A_ub=upper,
        b_ub=limits,
        A_eq=np.append(np.ones(count), 0.0)[None],
        b_eq=np.ones(1),
        method="highs",
    )
    if result.x is None:
        raise ArithmeticError("the body has become too thin for a linear program")
    mass = np.maximum(result.x[:count], 0.0)
    return np.asarray(mass / mass.sum())
