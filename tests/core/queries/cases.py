"""Small schemas and one or more classes of every kind over them, each small enough to be listed in full."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np

from core.queries.conjunctions import Conjunctions
from core.queries.counting import Counting
from core.queries.halfspaces import Halfspaces
from core.queries.intervals import Intervals
from core.queries.linear import Linear
from core.queries.lipschitz import Lipschitz
from core.queries.marginals import Marginals
from core.queries.parities import Parities
from core.queries.rectangles import Rectangles
from core.queries.statistics import Statistics
from core.queries.unions import Unions
from core.schema.domain import Booleans, Categories, Domain, Integers, Reals
from core.table.counts import Cells

FACTS = Domain(
    (
        Booleans(name="a"),
        Categories(name="b", values=("no", "yes")),
        Booleans(name="c", missing=True),
        Categories(name="colour", values=("red", "green", "blue")),
    )
)
NUMBERS = Domain(
    (
        Integers(name="x", low=0, high=4, missing=True),
        Categories(name="colour", values=("red", "green", "blue")),
        Integers(name="y", low=0, high=99, bins=4),
        Reals(name="z", low=-1.0, high=1.0, bins=3),
    )
)
EVERY_FACT = {"columns": ("a", "b", "c"), "values": (("colour", 2),)}
HALVES = ((0, 512, 1024, 3), (1024, 0, 0, 1))

LINEAR = [
    (Marginals(order=2), FACTS),
    (Marginals(order=1, columns=("y", "colour")), NUMBERS),
    (Marginals(sets=(("z", "x"), ("colour",))), NUMBERS),
    (Counting(conditions=((("colour", (0, 2)), ("a", (1,))), (("b", (0,)),), (), (("c", ()),))), FACTS),
    (Counting(conditions=((("y", (1, 2)), ("x", (0, 5))),)), NUMBERS),
    (Conjunctions(order=1), FACTS),
    (Conjunctions(order=2, **EVERY_FACT), FACTS),
    (Conjunctions(order=4, **EVERY_FACT), FACTS),
    (Conjunctions(order=2, **EVERY_FACT, connective="or"), FACTS),
    (Conjunctions(order=4, **EVERY_FACT, connective="or"), FACTS),
    (Parities(), FACTS),
    (Parities(**EVERY_FACT), FACTS),
    (Parities(**EVERY_FACT, parity="even"), FACTS),
    (Intervals(column="x"), NUMBERS),
    (Intervals(column="x", bits=2), NUMBERS),
    (Intervals(column="z"), NUMBERS),
    (Unions(column="x", parts=1), NUMBERS),
    (Unions(column="x", parts=3), NUMBERS),
    (Unions(column="x", parts=2, bits=2), NUMBERS),
    (Rectangles(columns=("x", "y")), NUMBERS),
    (Rectangles(columns=("z", "x"), bits=1), NUMBERS),
    (Rectangles(columns=("z", "x", "y")), NUMBERS),
    (Halfspaces(directions=40), NUMBERS),
    (Halfspaces(columns=("z", "x"), directions=16, translated=False, bits=5), NUMBERS),
    (Halfspaces(columns=("x",), directions=2, translated=False), NUMBERS),
    (Linear(columns=("y",), weights=HALVES), NUMBERS),
    (Statistics(column="x"), NUMBERS),
    (Statistics(column="z", groups=("colour", "y")), NUMBERS),
    (Linear.rounded(NUMBERS, ("colour", "z"), np.linspace(0, 1, 18), bits=4, words=("rising", "more")), NUMBERS),
]
NONLINEAR = [
    (
        Lipschitz(
            columns=("colour",),
            statistics=(("largest",), ("top", 2), ("distance", (512, 256, 256)), ("difference", (0,), (1, 2))),
        ),
        NUMBERS,
    ),
    (Lipschitz(columns=("a", "b"), statistics=(("difference", (0, 3), (1,)), ("top", 3))), FACTS),
]


def identified(cases):
    return [f"{query.name}-{place}" for place, (query, _) in enumerate(cases)]


def random_cells(domain: Domain, seed: int, most: int = 6) -> Cells:
    return Cells(domain, np.random.default_rng(seed).integers(0, most, domain.cells()))


def members(query, domain: Domain):
    size = round(np.exp(query.log_size(domain)))
    return [query.member(domain, index) for index in range(size)]


def matrix(query, domain: Domain) -> np.ndarray:
    """Every member's weights spread over the whole universe: what the classes themselves never build."""
    lines = []
    for member in members(query, domain):
        spread = np.zeros(domain.shape(), dtype=np.int64)
        for cell in product(*map(range, domain.shape())):
            spread[cell] = member.weights[tuple(cell[domain.names.index(column)] for column in member.columns)]
        lines.append(spread.ravel())
    return np.array(lines)


def different_points(predicates: np.ndarray) -> np.ndarray:
    """The matrix without repeated lines and without points that no line tells apart."""
    return np.unique(np.unique(predicates, axis=0), axis=1)


def shattered(predicates: np.ndarray) -> int:
    """The VC dimension of the lines of a 0/1 matrix, by growing every shattered set of points by every later point."""
    points = different_points(predicates)
    grown, size = [((), np.zeros(len(points), dtype=np.int64))], 0
    while True:
        longer = [
            ((*chosen, place), 2 * marks + points[:, place])
            for chosen, marks in grown
            for place in range(chosen[-1] + 1 if chosen else 0, points.shape[1])
        ]
        grown = [(chosen, marks) for chosen, marks in longer if len(np.unique(marks)) == 2 ** (size + 1)]
        if not grown:
            return size
        size += 1


def fat_shattered(weights: np.ndarray, gamma: float) -> int:
    """The fat-shattering dimension of the lines of a matrix, by trying every set of points and all levels.

    A level with values gamma above and below it may be raised until it is one of the values above it minus gamma.
    """
    lines, size = np.unique(weights, axis=0), 0
    while any(
        _fat(lines[:, chosen], np.array(levels), gamma)
        for chosen in combinations(range(lines.shape[1]), size + 1)
        for levels in product(*(np.unique(lines[:, place]) - gamma for place in chosen))
    ):
        size += 1
    return size


def _fat(lines: np.ndarray, levels: np.ndarray, gamma: float) -> bool:
    above, below = lines >= levels + gamma, lines <= levels - gamma
    clear = (above | below).all(axis=1)
    return len(np.unique(above[clear], axis=0)) == 2 ** lines.shape[1]
