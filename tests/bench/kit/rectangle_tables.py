"""Generated tables of two columns: shares of the cells, by a size of both sides and a seed.

Settings of `rectangle-tree` were tuned on TUNED and on the public tables; FRESH was run when they stood.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Shape = Callable[[int, np.random.Generator], Floats]


def towns(size: int, generator: np.random.Generator) -> Floats:
    """Thirty round places of very different size over a thin even ground."""
    x, y = np.meshgrid(*[np.arange(size)] * 2, indexing="ij")
    shape = np.full((size, size), 0.05 / size**2)
    for left, up in generator.integers(0, size, (30, 2)):
        width = size * 10 ** generator.uniform(-2.3, -1.3)
        shape += generator.pareto(1.2) * np.exp(-((x - left) ** 2 + (y - up) ** 2) / (2 * width**2)) / width**2 / 60
    return shape


def line(size: int, generator: np.random.Generator) -> Floats:
    """Two columns that nearly agree."""
    x, y = np.meshgrid(*[np.arange(size)] * 2, indexing="ij")
    return np.asarray(np.exp(-(((x - y) * 40 / size) ** 2) / 2))


def corner(size: int, generator: np.random.Generator) -> Floats:
    """Two amounts, nearly all small."""
    fall = np.exp(-np.arange(size) * 30 / size)
    return np.asarray(np.outer(fall, fall) + 1e-5 / size**2)


def hills(size: int, generator: np.random.Generator) -> Floats:
    """A few broad humps: nothing is empty."""
    x, y = np.meshgrid(*[np.arange(size) / size] * 2, indexing="ij")
    return np.asarray(
        0.2 + sum(np.exp(-((x - a) ** 2 + (y - b) ** 2) / 0.03) for a, b in generator.uniform(0, 1, (5, 2)))
    )


def streets(size: int, generator: np.random.Generator) -> Floats:
    """Thin lines across the table, of different use."""
    shape = np.full((size, size), 0.01 / size)
    shape[generator.integers(0, size, 12), :] += generator.pareto(1.5, 12)[:, None]
    shape[:, generator.integers(0, size, 12)] += generator.pareto(1.5, 12)
    return shape


def specks(size: int, generator: np.random.Generator) -> Floats:
    """One cell of two hundred is filled."""
    return np.asarray((generator.random((size, size)) < 0.005) * generator.gamma(1.0, 1.0, (size, size)) + 1e-9)


def ring(size: int, generator: np.random.Generator) -> Floats:
    x, y = np.meshgrid(*[np.arange(size) / size - 0.5] * 2, indexing="ij")
    return np.asarray(np.exp(-(((np.hypot(x, y) - 0.33) / 0.03) ** 2) / 2) + 1e-4)


def bills(size: int, generator: np.random.Generator) -> Floats:
    """A charge, and what was paid of it: all, nothing, or something between; round figures are likelier."""
    x, y = np.meshgrid(*[np.arange(size)] * 2, indexing="ij")
    charge = np.exp(-((np.log((x + 1) * 8 / size) / 0.8) ** 2) / 2) / (x + 1) * np.where(x % 10 == 0, 5.0, 1.0)
    paid = np.where(y == x, 8.0, 0.0) + np.where(y == 0, 3.0, 0.0) + np.where(y <= x, 2.0 / (x + 1), 0.0)
    return np.asarray(charge * paid)


def squares(size: int, generator: np.random.Generator) -> Floats:
    """Even rectangles of any size, most of the table empty."""
    shape = np.zeros((size, size))
    for _ in range(15):
        (a, b), (c, d) = np.sort(generator.integers(0, size, (2, 2)), axis=1)
        high, wide = max((b - a) // 4, 1), max((d - c) // 4, 1)
        shape[a : a + high, c : c + wide] += generator.pareto(1.0) / (high * wide) + 1e-3 / size**2
    return shape


def drift(size: int, generator: np.random.Generator) -> Floats:
    """A column that depends on the other by a curve, with outliers anywhere."""
    x, y = np.meshgrid(*[np.arange(size) / size] * 2, indexing="ij")
    middle, width = 0.5 + 0.35 * np.sin(5 * x), 0.02 + 0.1 * x
    return np.asarray(np.exp(-(((y - middle) / width) ** 2) / 2) / width * (1.2 - x) + 0.05)


TUNED: dict[str, Shape] = {"towns": towns, "line": line, "corner": corner, "hills": hills}
FRESH: dict[str, Shape] = {
    "streets": streets,
    "specks": specks,
    "ring": ring,
    "bills": bills,
    "squares": squares,
    "drift": drift,
}


def made(kind: Shape, size: int, seed: int) -> Floats:
    shape = kind(size, np.random.default_rng(seed))
    return np.asarray(shape / shape.sum())
