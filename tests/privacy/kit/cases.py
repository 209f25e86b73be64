"""Every registered mechanism on small schemas: with every class it serves, every unit and both kinds of budget."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from core import registry
from core.base.errors import DeskError
from core.mechanisms.games import strategies
from core.mechanisms.halfspaces import halfspace_fit, halfspace_projections
from core.models import tables as tables_model
from core.models.nets.net_answers import class_answers
from core.privacy.budget import Budget
from core.privacy.unit import Unit
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
from core.schema.domain import Domain, Integers
from core.table.counts import Cells

PURE, APPROXIMATE = Budget(1), Budget(1, 1e-6)
QUICK = {"rounds": 4, "members": 50, "proposals": 10, "planes": 16}
"""Options that make a run short, for the mechanisms that have them."""
UNITS = (Unit.row(), Unit.row("replace"), Unit.id("person", 3), Unit.id("person", 3, "replace"))
EXAMPLES = {
    "marginals": (Marginals(order=2),),
    "intervals": (Intervals(column="a"),),
    "rectangles": (Rectangles(columns=("a", "b")),),
    "halfspaces": (Halfspaces(columns=("a", "b"), directions=6),),
    "conjunctions": (Conjunctions(order=2, columns=("b", "c")),),
    "parities": (Parities(columns=("b", "c")),),
    "unions": (Unions(column="a", parts=2),),
    "counting": (Counting(conditions=((("a", (0, 2)), ("b", (1,))), (("c", (0,)),))),),
    "linear": (Linear(columns=("a",), weights=((0, 1, 3, 4),), whole=4),),
    "statistics": (Statistics(column="a", groups=("c",)),),
    "lipschitz": (Lipschitz(columns=("a",), statistics=(("largest",), ("top", 2))),),
    "several": (Marginals(order=2), Intervals(column="a"), Halfspaces(columns=("a", "b"), directions=6)),
}
"""One choice of queries on DOMAIN for each registered class, and one of several classes at once."""

DOMAIN = Domain(tuple(Integers(name=name, low=0, high=high) for name, high in (("a", 3), ("b", 1), ("c", 1))))
MICRO = Domain((Integers(name="a", low=0, high=1), Integers(name="b", low=0, high=1)))
MICRO_EXAMPLES = {
    "marginals": (Marginals(order=1), Marginals(order=2)),
    "intervals": (Intervals(column="a"),),
    "rectangles": (Rectangles(columns=("a", "b")),),
    "halfspaces": (Halfspaces(columns=("a", "b"), directions=4),),
}
OFFLINE_PURE = tuple(name for name in registry.offline if name != "gaussian")
"""Gaussian noise has no pure form."""


def build(name: str, queries: tuple, budget: Budget, domain: Domain, unit: Unit) -> Any:
    """The mechanism, or None where it refuses this combination in advance."""
    try:
        known = {each.name for each in fields(registry.offline[name])}
        mechanism = registry.mechanism_from(name, queries, budget, {key: QUICK[key] for key in QUICK if key in known})
        mechanism.check(domain, unit)
    except DeskError:
        return None
    return mechanism


def cases() -> Iterator[Any]:
    for name in registry.offline:
        served = [
            (example, budget, unit)
            for example in EXAMPLES
            for budget in (PURE, APPROXIMATE)
            for unit in UNITS
            if build(name, EXAMPLES[example], budget, DOMAIN, unit)
        ]
        assert served, f"no example fits {name}: add one"
        first = served[0][0]
        for example, budget, unit in served:
            if example == first or unit == UNITS[0]:
                label = f"{name}-{example}-{'pure' if budget.pure else 'approximate'}-{unit.limit}{unit.neighbours}"
                yield pytest.param(build(name, EXAMPLES[example], budget, DOMAIN, unit), unit, id=label)


CASES = list(cases())


def on_micro(name: str, budget: Budget, unit: Unit | None = None) -> Any:
    """The mechanism with the first class it serves on MICRO, or None."""
    options = (build(name, queries, budget, MICRO, unit or Unit.row()) for queries in MICRO_EXAMPLES.values())
    return next(filter(None, options), None)


def pure_on_micro(name: str) -> Any:
    return on_micro(name, PURE)


def neighbours(unit: Unit, generator: np.random.Generator, domain: Domain = DOMAIN) -> tuple[Cells, Cells]:
    """Two tables that differ by one unit; half of the time the unit's rows all fall into one cell."""
    cells = domain.cells()
    first = generator.integers(0, 400, cells) * (generator.random(cells) < 0.5)
    second = first + _unit_rows(unit, generator, cells)
    if unit.neighbours == "replace":
        rows = _unit_rows(unit, generator, cells)
        while unit.public_rows and rows.sum() != (second - first).sum():
            rows = _unit_rows(unit, generator, cells)
        first = first + rows
    return Cells(domain, first, unit), Cells(domain, second, unit)


def _unit_rows(unit: Unit, generator: np.random.Generator, size: int) -> np.ndarray:
    rows = int(generator.integers(1, unit.limit + 1))
    cells = generator.integers(0, size, rows)
    if generator.random() < 0.5:
        cells = np.repeat(cells[:1], unit.limit)
    return np.bincount(cells, minlength=size)


@contextmanager
def few_points() -> Iterator[None]:
    """Fitting records is post-processing: fewer points make many runs fast and change nothing that is checked.

    What the databases of a public net answer is public too, and is worked out once for all runs.
    """
    answered: dict[Any, Any] = {}

    def answers(query: Any, domain: Domain, net: np.ndarray) -> np.ndarray:
        key = query, domain, net.shape, net.tobytes()
        if key not in answered:
            answered[key] = class_answers(query, domain, net)
            answered[key].setflags(write=False)
        return answered[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(strategies, "class_answers", answers)
        patch.setattr(tables_model, "FEWEST_POINTS", 50)
        patch.setattr(tables_model, "MOST_POINTS", 50)
        patch.setattr(halfspace_projections, "SUPPORT", 50)
        patch.setattr(halfspace_fit, "SUPPORT", 64)
        yield
