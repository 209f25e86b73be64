"""All questions together: a junction tree that agrees with every table to within its noise, and draws records."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.base.arrays import Columns, Floats
from core.local.estimation.answers import QuestionEstimate
from core.models.fitting.simplex import simplex
from core.models.fitting.tree_fit import fit_tree
from core.models.fitting.triangulation import cells_of, join, triangulate
from core.models.junction_tree import JunctionTree
from core.schema.domain import Domain

MOST_CELLS = 2_000_000
"""Cells of the largest clique: pairs that would need more are left out of the model, not out of the estimates."""


def joined(domain: Domain, estimates: Sequence[QuestionEstimate], people: int) -> JunctionTree | None:
    """A model of all columns whose shares were estimated; None where there is none."""
    told = [each for each in estimates if each.shares is not None and each.people]
    ones = _single_columns(domain, told)
    if not ones:
        return None
    own = domain.project([name for name in domain.names if name in ones])
    sizes = dict(zip(own.names, own.shape(), strict=True))
    pairs = [each for each in told if len(each.question.columns) == 2]
    cliques = triangulate(sizes, [each.question.columns for each in pairs])
    while pairs and max(cells_of(sizes, clique) for clique in cliques) > MOST_CELLS:
        pairs = pairs[:-1]
        cliques = triangulate(sizes, [each.question.columns for each in pairs])
    start = JunctionTree.independent(own, float(max(people, 1)), join(own.names, cliques), ones)
    if not pairs:
        return start
    tables: dict[Columns, Floats] = {(name,): start.total * shares for name, shares in ones.items()}
    sigmas: dict[Columns, float] = dict.fromkeys(tables, 1e-6 * start.total)
    for each in pairs:
        assert each.raw is not None and each.deviations is not None
        columns = each.question.columns
        tables[columns] = start.total * each.raw.reshape(own.shape(columns))
        sigmas[columns] = start.total * float(np.mean(each.deviations))
    return fit_tree(start, tables, sigmas)


def _single_columns(domain: Domain, estimates: Sequence[QuestionEstimate]) -> dict[str, Floats]:
    """The shares of every column: from its own question, else from the pairs that hold it, by people."""
    own = {each.question.columns[0]: each.shares for each in estimates if len(each.question.columns) == 1}
    found = {name: shares for name, shares in own.items() if shares is not None}
    sums: dict[str, tuple[Floats, int]] = {}
    for each in estimates:
        if len(each.question.columns) == 2 and each.shares is not None:
            table = each.shares.reshape(domain.shape(each.question.columns))
            for axis, name in enumerate(each.question.columns):
                before, people = sums.get(name, (np.zeros(domain[name].size), 0))
                sums[name] = before + each.people * table.sum(axis=1 - axis), people + each.people
    return {**{name: simplex(total / people, 1.0) for name, (total, people) in sums.items()}, **found}
