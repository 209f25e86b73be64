"""Questions and sessions that the tests of interactive mechanisms share."""

from __future__ import annotations

import numpy as np

from core.kernel.query import Query
from core.mechanisms.kit.interactive import Reply
from core.schema.domain import Domain, Integers
from core.table.counts import Cells

CUBE = Domain(tuple(Integers(name=name, low=0, high=high) for name, high in (("a", 3), ("b", 2), ("c", 1), ("d", 1))))


def cells(rows: int = 20_000, seed: int = 1) -> np.ndarray:
    """A correlated table over CUBE."""
    generator = np.random.default_rng(seed)
    first = generator.choice(4, rows, p=(0.5, 0.3, 0.15, 0.05))
    second = np.minimum(2, (first + generator.integers(0, 2, rows)) // 2)
    third = (generator.random(rows) < 0.1 + 0.25 * first).astype(int)
    fourth = np.where(generator.random(rows) < 0.8, third, 1 - third)
    return np.bincount(np.ravel_multi_index((first, second, third, fourth), CUBE.shape()), minlength=CUBE.cells())


def questions(domain: Domain, count: int, seed: int = 7, denominators: tuple[int, ...] = (1,)) -> list[Query]:
    """Random cells of up to three columns, some sets of cells, and weights over a denominator."""
    generator = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        chosen = np.sort(generator.choice(len(domain), generator.integers(1, 4), replace=False))
        columns = tuple(domain.names[place] for place in chosen)
        shape, denominator = domain.shape(columns), int(generator.choice(denominators))
        weights = np.zeros(shape, dtype=np.int64)
        weights[tuple(generator.integers(0, size) for size in shape)] = denominator
        if generator.random() < 0.3:
            weights = generator.integers(0, denominator + 1, shape)
        made.append(Query(columns=columns, weights=weights, denominator=denominator))
    return made


def errors(replies: list[Reply], asked: list[Query], counts: Cells) -> np.ndarray:
    """In rows."""
    truth = [float(question.total(counts)) / question.denominator for question in asked]
    return np.abs(np.array([reply.count for reply in replies]) - truth)
