"""A small instance of every decision, with the schema that its table has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from core.decisions.decision import Decision
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.registry import decision_from
from core.schema.domain import Booleans, Categories, Domain, Integers
from core.table.counts import Cells

VERTICES = tuple("pqrs")
GRAPH = Domain((Categories(name="from", values=VERTICES), Categories(name="to", values=VERTICES)))
HEAVY = Domain((*GRAPH, Integers(name="weight", low=0, high=3)))
PLACES = Domain((Integers(name="x", low=0, high=2), Integers(name="y", low=0, high=1)))
ELEMENTS = Domain((Categories(name="element", values=("d", "e", "f", "g")),))
PROJECTS = Domain((Booleans(name="a"), Booleans(name="b"), Integers(name="c", low=0, high=2)))
PEOPLE = Domain((Booleans(name="ill"), Booleans(name="a"), *PLACES))
ENDS = {"columns": ["from", "to"]}
SITES = {"sites": [["n", 0, 0], ["m", 1, 1], ["o", 2, 0]], "columns": ["x", "y"], "k": 1}
WITHOUT_K = {name: value for name, value in SITES.items() if name != "k"}
LISTED = {
    "sites": [["n"], ["m"]],
    "columns": ["element"],
    "k": 1,
    "distances": [[place, site, far] for far, place in enumerate("defg") for site in "nm"],
}
SETS = {"members": [["A", "d"], ["A", "e"], ["B", "e"], ["B", "f"], ["C", "f"], ["C", "g"]], "column": "element"}

INSTANCES: dict[str, list[tuple[Domain, dict[str, Any]]]] = {
    "k-median-counts": [(PLACES, SITES), (ELEMENTS, LISTED)],
    "k-median-exact": [(PLACES, SITES)],
    "k-median-search": [(PLACES, {**SITES, "swaps": 2})],
    "facility-superset": [(PLACES, {**WITHOUT_K, "opening": 2.0})],
    "k-means": [(PLACES, {"columns": ["x", "y"], "k": 2})],
    "k-means-records": [(PLACES, {"columns": ["x", "y"], "k": 2})],
    "min-cut": [(GRAPH, ENDS), (HEAVY, {**ENDS, "weight": "weight"})],
    "min-cut-padded": [(GRAPH, ENDS), (GRAPH, {**ENDS, "estimated": False})],
    "vertex-cover-order": [
        (GRAPH, ENDS),
        (GRAPH, {**ENDS, "padding": "hallucinated"}),
        (GRAPH, {**ENDS, "costs": [["p", 3], ["q", 2]]}),
    ],
    "vertex-cover-classes": [(GRAPH, ENDS), (GRAPH, {**ENDS, "costs": [["p", 3], ["q", 2]]})],
    "vertex-cover-degrees": [(GRAPH, ENDS), (GRAPH, {**ENDS, "costs": [["p", 3]]})],
    "vertex-cover-size": [(GRAPH, ENDS)],
    "set-cover-presence": [(ELEMENTS, SETS), (ELEMENTS, {**SETS, "costs": [["A", 4]]})],
    "set-cover-orders": [(ELEMENTS, SETS), (ELEMENTS, {**SETS, "costs": [["A", 4]]})],
    "set-cover-buckets": [(ELEMENTS, SETS), (ELEMENTS, {**SETS, "costs": [["A", 4], ["C", 3]]})],
    "set-cover-choices": [(ELEMENTS, SETS), (ELEMENTS, {**SETS, "costs": [["A", 4]]})],
    "set-cover-ranges": [(ELEMENTS, {**SETS, "costs": [["A", 400], ["B", 3]]})],
    "projects": [(PROJECTS, {"columns": ["a", "b", "c"], "k": 2})],
    "projects-exact": [(PROJECTS, {"columns": ["a", "b", "c"], "k": 2})],
    "learner": [
        (PEOPLE, {"label": "ill", "columns": ["a"]}),
        (PEOPLE, {"label": "ill", "columns": ["x", "y"], "rules": "rectangles"}),
        (PEOPLE, {"label": "ill", "columns": ["x", "y"], "rules": "halfspaces"}),
    ],
}


def built(name: str, budget: Budget) -> Iterator[tuple[Decision, Domain]]:
    for domain, public in INSTANCES[name]:
        yield decision_from(name, budget, public), domain


def neighbouring(domain: Domain, unit: Unit, generator: np.random.Generator) -> tuple[Cells, Cells]:
    """Two small tables of a schema that differ by one unit."""
    cells = generator.integers(0, 3, domain.cells()) * (generator.random(domain.cells()) < 0.4)

    def person() -> np.ndarray:
        return np.bincount(generator.integers(0, domain.cells(), unit.limit), minlength=domain.cells())

    one = cells + person() if unit.neighbours == "replace" else cells
    return Cells(domain, one, unit), Cells(domain, cells + person(), unit)
