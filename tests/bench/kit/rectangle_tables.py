"""Generated tables of two columns: shares of the cells, by a size of both sides and a seed.

Settings of `rectangle-tree` were tuned on TUNED and on the public tables; FRESH was run when they stood. What is done
where rows are uneven was then tuned on all of those but the last four of FRESH, and on SPARSE; UNSEEN was run when that
stood.
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


def lattice(size: int, generator: np.random.Generator) -> Floats:
    """Two columns, each with twenty values that are taken at all, whatever the other has."""
    lines = np.zeros((2, size))
    for each in lines:
        each[generator.choice(size, 20, replace=False)] = generator.gamma(1.0, 1.0, 20)
    return np.asarray(np.outer(*lines) + 1e-9)


def dust(size: int, generator: np.random.Generator) -> Floats:
    """Three cells of a hundred are filled, most of them with little."""
    return np.asarray((generator.random((size, size)) < 0.03) * generator.gamma(0.5, 1.0, (size, size)) + 1e-9)


def nests(size: int, generator: np.random.Generator) -> Floats:
    """Filled cells near a dozen places."""
    x, y = np.meshgrid(*[np.arange(size)] * 2, indexing="ij")
    shape = np.zeros((size, size))
    for left, up in generator.integers(0, size, (12, 2)):
        near = np.exp(-((x - left) ** 2 + (y - up) ** 2) / (2 * (size * 0.04) ** 2))
        shape += generator.pareto(1.2) * near
    return np.asarray(shape * (generator.random((size, size)) < 0.05) * generator.gamma(1.0, 1.0, (size, size)) + 1e-9)


def bands(size: int, generator: np.random.Generator) -> Floats:
    """Nine values of one column, and along each of them the other one smoothly."""
    lines = np.zeros(size)
    lines[generator.choice(size, 9, replace=False)] = generator.pareto(1.2, 9)
    return np.asarray(np.outer(lines, 1.2 + np.sin(9 * np.arange(size) / size)) + 1e-6)


def receipts(size: int, generator: np.random.Generator) -> Floats:
    """Prices, most of them round, and how often each is bought: few or by the dozen."""
    places = np.arange(size)
    price = np.exp(-((np.log((places + 1) * 6 / size)) ** 2) / 2) / (places + 1)
    price *= np.where(places % 25 == 24, 40.0, np.where(places % 5 == 4, 8.0, 0.1))
    often = 1 / (places + 1.0) ** 1.5 + 0.2 * (places % 12 == 11) / (places + 1.0)
    return np.asarray(np.outer(price * generator.gamma(2.0, 1.0, size), often))


def trails(size: int, generator: np.random.Generator) -> Floats:
    """Where some walkers were, step by step."""
    shape = np.full((size, size), 1e-3 / size**2)
    for _ in range(25):
        steps = generator.normal(0, 0.6, (4 * size, 2)).cumsum(axis=0) + generator.integers(0, size, 2)
        cells = np.rint(steps).astype(np.int64) % size
        np.add.at(shape, tuple(cells.T), generator.pareto(1.5) / (4 * size))
    return shape


def codes(size: int, generator: np.random.Generator) -> Floats:
    """Each value of one column goes with one to three of the other; some values are common, others rare."""
    shape = np.full((size, size), 1e-9)
    for value, share in enumerate(generator.pareto(1.1, size)):
        partners = generator.integers(0, size, generator.integers(1, 4))
        shape[value, partners] += share / len(partners)
    return shape


def waves(size: int, generator: np.random.Generator) -> Floats:
    """Ripples of any direction: nowhere empty, and nowhere quite even."""
    x, y = np.meshgrid(*[np.arange(size) / size] * 2, indexing="ij")
    ripples = [np.sin(a * x + b * y + c) for a, b, c in generator.uniform(-40, 40, (6, 3))]
    return np.asarray(np.exp(0.5 * sum(ripples)))


def peaks(size: int, generator: np.random.Generator) -> Floats:
    """A broad hump that holds half of all, and sixty single cells that hold the rest."""
    x, y = np.meshgrid(*[np.arange(size) / size] * 2, indexing="ij")
    shape = np.exp(-((x - 0.4) ** 2 + (y - 0.6) ** 2) / 0.05)
    shape /= 2 * shape.sum()
    cells = generator.integers(0, size, (60, 2))
    np.add.at(shape, tuple(cells.T), generator.dirichlet(np.ones(60)) / 2)
    return np.asarray(shape)


TUNED: dict[str, Shape] = {"towns": towns, "line": line, "corner": corner, "hills": hills}
FRESH: dict[str, Shape] = {
    "streets": streets,
    "specks": specks,
    "ring": ring,
    "bills": bills,
    "squares": squares,
    "drift": drift,
}
SPARSE: dict[str, Shape] = {"lattice": lattice, "dust": dust, "nests": nests, "bands": bands}
UNSEEN: dict[str, Shape] = {"receipts": receipts, "trails": trails, "codes": codes, "waves": waves, "peaks": peaks}


def made(kind: Shape, size: int, seed: int) -> Floats:
    shape = kind(size, np.random.default_rng(seed))
    return np.asarray(shape / shape.sum())
