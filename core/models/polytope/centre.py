"""The analytic centre of a polytope of histograms, and points spread around it as uniform ones nearly are.

Independent exponential numbers with any rates that are constant on the slabs' answers, given those answers, are uniform
on the histograms with these answers. Rates 1/centre make the expected answers those of the centre. So histograms drawn
that way and then corrected a little to lie inside are nearly uniform in all directions that no slab limits: a walk that
starts there has little left to forget.
"""

from __future__ import annotations

import numpy as np

from core.base.arrays import Floats
from core.models.polytope.polytope import Polytope

_ITERATIONS = 60
_ROUNDS = 12
"""Corrections of a drawn histogram; each leaves a small part of the error of the one before."""


def centre(body: Polytope, inner: Floats) -> Floats:
    """The point that maximises the sum of log shares and log distances from all limits, from a strictly inner point.

    **Runtime** a few dozen Newton steps, each O(atoms x slabs^2).
    """
    atoms = body.atoms()
    sizes = np.bincount(atoms).astype(np.float64)
    lines = body.weights[:, np.unique(atoms, return_index=True)[1]]
    mass: Floats = np.bincount(atoms, inner).astype(np.float64)
    for _ in range(_ITERATIONS):
        step, gain = _newton(lines, body.low, body.high, sizes, mass)
        if gain < 1e-8:
            break
        # Damped steps of a self-concordant function stay inside, up to rounding.
        mass = mass + step * (1.0 if gain < 0.06 else 1 / (1 + np.sqrt(gain)))
        mass = np.maximum(mass, 1e-300)
        mass = mass / mass.sum()
    return (mass / sizes)[atoms]


def _newton(lines: Floats, low: Floats, high: Floats, sizes: Floats, mass: Floats) -> tuple[Floats, float]:
    """Newton's step among masses with the same sum, and its squared length in the metric of the function."""
    values = lines @ mass
    below, above = np.maximum(values - low, 1e-15), np.maximum(high - values, 1e-15)
    gradient = sizes / mass + lines.T @ (1 / below - 1 / above)
    flat = mass**2 / sizes
    small = np.diag(1 / (1 / below**2 + 1 / above**2)) + (lines * flat) @ lines.T

    def solved(right: Floats) -> Floats:
        scaled = flat * right
        return np.asarray(scaled - flat * (lines.T @ np.linalg.solve(small, lines @ scaled)))

    along, even = solved(gradient), solved(np.ones_like(mass))
    step = along - even * (along.sum() / even.sum())
    return step, float(gradient @ step)


def around(body: Polytope, middle: Floats, chains: int, generator: np.random.Generator) -> Floats:
    """Points inside the body, spread around its centre."""
    drawn = middle * generator.exponential(size=(chains, middle.size))
    drawn /= drawn.sum(axis=1, keepdims=True)
    lines = np.concatenate([np.ones((1, body.cells)), body.weights])
    at = body.weights @ middle
    low, high = (body.low + at) / 2, (body.high + at) / 2
    goals = np.column_stack([np.ones(chains), np.clip(drawn @ body.weights.T, low, high)])
    return _pulled(_corrected(drawn, lines, goals, middle), body, middle)


def _corrected(points: Floats, lines: Floats, goals: Floats, middle: Floats) -> Floats:
    """Histograms near the points that answer nearly as the goals say, each cell changed by a factor.

    Newton's method with the matrix of the centre for all points: that is right on average, so the errors shrink fast.
    """
    matrix = (lines * middle**2) @ lines.T
    inverse = np.linalg.pinv(matrix, hermitian=True)
    for _ in range(_ROUNDS):
        pull = (points @ lines.T - goals) @ inverse
        points = points * np.clip(1 - middle * (pull @ lines), 0.2, 5.0)
    return np.asarray(points / points.sum(axis=1, keepdims=True))


def _pulled(points: Floats, body: Polytope, middle: Floats) -> Floats:
    """The points, drawn towards the centre as far as a slab asks for."""
    values, at = points @ body.weights.T, body.weights @ middle
    away = values - at
    room = np.where(away > 0, body.high - at, body.low - at)
    share = np.where((values > body.high) | (values < body.low), room / np.where(away == 0, 1.0, away), 1.0)
    part = 0.99 * share.min(axis=1, initial=1.0)
    part = np.where(part < 0.99, part, 1.0)[:, None]
    return middle + part * (points - middle)
