"""Schemas of very different sizes, for what must hold on any of them: the demo table's, and generated ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from core.queries.conjunctions import Conjunctions
from core.queries.halfspaces import Halfspaces
from core.queries.intervals import Intervals
from core.queries.kit.protocol import QueryClass
from core.queries.marginals import Marginals
from core.queries.parities import Parities
from core.queries.rectangles import Rectangles
from core.schema.domain import Booleans, Categories, Domain, Integers, Reals

DEMO = Domain.from_json((Path(__file__).parents[2] / "data" / "clinic_visits.schema.json").read_text())
SIZES = (1, 2, 3, 4, 6, 8, 12, 20, 30, 40)


def generated(columns: int) -> Domain:
    """A schema of columns of every kind, the same at every call."""
    generator = np.random.default_rng(columns)
    made = []
    for place in range(columns):
        name, kind = f"c{place}", generator.integers(0, 5)
        if kind == 0:
            made.append(Booleans(name=name, missing=bool(generator.integers(0, 2))))
        elif kind == 1:
            made.append(Categories(name=name, values=tuple(f"v{value}" for value in range(generator.integers(2, 30)))))
        elif kind == 2:
            made.append(Integers(name=name, low=0, high=int(generator.choice([1, 9, 99, 511]))))
        elif kind == 3:
            made.append(Reals(name=name, low=-1.0, high=1.0, bins=int(generator.choice([2, 16, 64]))))
        else:
            made.append(Integers(name=name, low=0, high=10**6, bins=32))
    return Domain(tuple(made))


SCHEMAS = {"demo": DEMO, **{f"{columns} columns": generated(columns) for columns in SIZES}}


def starting(domain: Domain) -> list[QueryClass]:
    """The classes as their forms start on a schema, as far as it has columns for them."""
    numbers, ordered, binary = (
        tuple(each.name for each in domain if fits(each))
        for fits in (lambda each: each.numeric, lambda each: each.ordered, lambda each: each.size == 2)
    )
    found: list[QueryClass] = [Marginals(order=min(2, len(domain)))]
    if numbers:
        found.append(Halfspaces(columns=numbers[:2]))
    if ordered:
        found.append(Intervals(column=ordered[0]))
    if len(ordered) > 1:
        found.append(Rectangles(columns=ordered[:2]))
    if binary:
        found += [Conjunctions(columns=binary, order=min(2, len(binary))), Parities(columns=binary)]
    return found
