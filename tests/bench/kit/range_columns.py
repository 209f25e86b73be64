"""Generated columns, most of whose cells are empty or alike: shares of the cells, by a size and a seed.

Settings of `interval-tree` were tuned on TUNED and on the public histograms. HELD_OUT was looked at between rounds of
tuning; UNSEEN was run when the settings stood, and chose none of them, but for `dust`, which then showed what the test
for uneven stretches is for and is among TUNED since. FRESH was run when that test stood, and chose nothing.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Shape = Callable[[int, np.random.Generator], Floats]


def spikes(size: int, generator: np.random.Generator, count: int = 20) -> Floats:
    shape = np.zeros(size)
    shape[generator.choice(size, count, replace=False)] = generator.pareto(1.0, count) + 0.05
    return shape


def three(size: int, generator: np.random.Generator) -> Floats:
    return spikes(size, generator, 3)


def zeros(size: int, generator: np.random.Generator) -> Floats:
    """Nine tenths in the first cell, the rest in few others, as of capital gains."""
    shape = spikes(size, generator, 60)
    shape *= 0.08 / shape.sum()
    shape[0] += 0.92
    return shape


def clusters(size: int, generator: np.random.Generator) -> Floats:
    cells, shape = np.arange(size), np.zeros(size)
    for _ in range(6):
        width = size * 10 ** generator.uniform(-3.5, -2)
        shape += generator.pareto(1.5) * np.exp(-((cells - generator.uniform(0, size)) ** 2) / (2 * width**2)) / width
    return shape


def lognormal(size: int, generator: np.random.Generator) -> Floats:
    cells = np.arange(1, size + 1)
    return np.exp(-((np.log(cells * 50 / size) / 0.9) ** 2) / 2) / cells


def steps(size: int, generator: np.random.Generator) -> Floats:
    width = np.diff(np.concatenate([[0], np.sort(generator.choice(size - 1, 11, replace=False)) + 1, [size]]))
    return np.repeat((generator.pareto(0.7, 12) + 0.01) / width, width)


def salaries(size: int, generator: np.random.Generator) -> Floats:
    """Two humps, a legal minimum, and round figures that most people state."""
    cells = np.arange(size)
    hump = sum(
        weight * np.exp(-((np.log((cells + 1) * each / size) / 0.4) ** 2) / 2) / (cells + 1)
        for weight, each in ((0.7, 12), (0.3, 4))
    )
    hump[: size // 20] = 0
    hump[size // 20] = hump.max() * 40
    return np.asarray(hump * np.where(cells % (size // 256) == 0, 30.0, 1.0))


def numbers_in_use(size: int, generator: np.random.Generator) -> Floats:
    """Blocks of a register that are in use, each filled evenly, and nothing between them."""
    shape = np.zeros(size)
    for start in generator.choice(size - size // 64, 25, replace=False):
        shape[start : start + size // int(generator.choice([64, 512, 2048]))] += generator.pareto(1.2) + 0.1
    return shape


def days(size: int, generator: np.random.Generator) -> Floats:
    """Every 128th stretch holds a day's work, with its own height; a year has holidays."""
    cells = np.arange(size)
    within = np.exp(-((cells % (size // 128) * 128 / size - 0.4) ** 2) / 0.02)
    heights = generator.gamma(4, 1, 128) * (generator.random(128) > 0.15)
    return np.asarray(within * heights[np.minimum(cells * 128 // size, 127)])


def waiting(size: int, generator: np.random.Generator) -> Floats:
    return np.exp(-np.arange(size) * 300 / size)


def one_place(size: int, generator: np.random.Generator) -> Floats:
    cells = np.arange(size)
    return np.asarray(np.exp(-(((cells - generator.uniform(0.1, 0.9) * size) * 700 / size) ** 2) / 2))


def edge(size: int, generator: np.random.Generator) -> Floats:
    return np.asarray(np.exp(-np.arange(size) * 1500 / size))


def rough(size: int, generator: np.random.Generator) -> Floats:
    """Nothing is empty, and no four cells are like the next four."""
    return np.repeat(generator.gamma(0.5, 1, size // 4), 4)


def heaped(size: int, generator: np.random.Generator) -> Floats:
    """A smooth hump of which every tenth cell is stated thrice as often, and every hundredth ten times."""
    cells = np.arange(size)
    hump = np.exp(-(((cells - 0.4 * size) / (0.12 * size)) ** 2) / 2)
    return np.asarray(hump * np.where(cells % 100 == 0, 10.0, np.where(cells % 10 == 0, 3.0, 1.0)))


def cascade(size: int, generator: np.random.Generator) -> Floats:
    """Thirds of thirds, each with a random share: clumps at every scale, not where halves are cut."""
    shape = np.ones(1)
    while shape.size < size:
        shape = (shape[:, None] * generator.dirichlet(np.full(3, 0.6), shape.size)).ravel()
    return np.asarray(shape[:size])


def ranks(size: int, generator: np.random.Generator) -> Floats:
    """The k-th cell has the share 1/k^1.2."""
    return np.asarray((1.0 + np.arange(size)) ** -1.2)


def dust(size: int, generator: np.random.Generator) -> Floats:
    """One cell of fifty is filled, all alike."""
    return np.asarray((generator.random(size) < 0.02).astype(float) + 1e-9)


def teeth(size: int, generator: np.random.Generator, apart: int = 50) -> Floats:
    """Every fiftieth cell is filled, all alike."""
    shape = np.full(size, 1e-9)
    shape[int(generator.integers(apart)) :: apart] = 1.0
    return shape


def wide_teeth(size: int, generator: np.random.Generator) -> Floats:
    """Every 400th cell is filled, all alike."""
    return teeth(size, generator, 400)


def bursts(size: int, generator: np.random.Generator) -> Floats:
    """Nine bursts that begin at once and fade, over a thin even ground."""
    shape, cells = np.full(size, 0.05 / size), np.arange(size)
    for start in generator.integers(0, size, 9):
        fading = size * 10 ** generator.uniform(-3.5, -1.5)
        shape += np.exp(-np.where(cells >= start, cells - start, np.inf) / fading) / fading * generator.gamma(1.0)
    return shape


def one_stretch(size: int, generator: np.random.Generator) -> Floats:
    """An even stretch of a sixth of the column, and nothing else."""
    shape, start = np.zeros(size), int(generator.uniform(0.1, 0.7) * size)
    shape[start : start + size // 6] = 1.0
    return shape


def half_dust(size: int, generator: np.random.Generator) -> Floats:
    """Single cells in the first half, and as many rows in the second one, evenly."""
    shape = (generator.random(size) < 0.015).astype(float)
    shape[size // 2 :] = shape[: size // 2].sum() / (size - size // 2)
    return np.asarray(shape)


def prices(size: int, generator: np.random.Generator) -> Floats:
    """Multiples of 25 and 100 that few different things cost, the dear ones seldom."""
    cells = np.arange(size)
    fitting = (cells % 25 == 0) * (1.0 + 4.0 * (cells % 100 == 0)) * (generator.random(size) < 0.5)
    return np.asarray(fitting * np.exp(-3.0 * cells / size) + 1e-9)


def swarms(size: int, generator: np.random.Generator) -> Floats:
    """A hundred places with a few filled cells near each, of very different heights."""
    shape = np.zeros(size)
    for centre in generator.integers(0, size, 100):
        near = (centre + generator.normal(0, size / 1500, 8)).astype(np.int64) % size
        shape[near] += generator.pareto(1.3, 8) + 0.1
    return shape


def appointments(size: int, generator: np.random.Generator) -> Floats:
    """Short even sessions with long breaks between them, whole weeks missing."""
    cells = np.arange(size)
    open_ = (cells % max(size // 300, 8) < max(size // 3000, 1)) & (cells * 52 // size % 5 != 3)
    return np.asarray(open_ * 1.0 + 1e-9)


def grains(size: int, generator: np.random.Generator) -> Floats:
    """One cell of 300 is filled, with heights of an exponential law."""
    return np.asarray((generator.random(size) < 1 / 300) * generator.exponential(1.0, size) + 1e-9)


def saw(size: int, generator: np.random.Generator) -> Floats:
    """Forty ramps, and nothing is empty."""
    return np.asarray(0.05 + np.arange(size) * 40 / size % 1.0)


TUNED: dict[str, Shape] = {
    "spikes": spikes,
    "three cells": three,
    "zeros": zeros,
    "clusters": clusters,
    "lognormal": lognormal,
    "steps": steps,
    "one place": one_place,
    "edge": edge,
    "rough": rough,
    "dust": dust,
    "teeth": teeth,
    "wide teeth": wide_teeth,
}
HELD_OUT: dict[str, Shape] = {
    "salaries": salaries,
    "numbers in use": numbers_in_use,
    "days": days,
    "waiting times": waiting,
}
UNSEEN: dict[str, Shape] = {
    "heaped": heaped,
    "cascade": cascade,
    "ranks": ranks,
    "bursts": bursts,
    "one stretch": one_stretch,
}
FRESH: dict[str, Shape] = {
    "half dust": half_dust,
    "prices": prices,
    "swarms": swarms,
    "appointments": appointments,
    "grains": grains,
    "saw": saw,
}


def made(kind: Shape, size: int, seed: int) -> Floats:
    shape = kind(size, np.random.default_rng(seed))
    return np.asarray(shape / shape.sum())
