"""A finite class of one's own, typed as formulas, and its VC dimension: by search where it is small, else by bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.base.arrays import Columns
from core.base.errors import BadParameter
from core.base.wording import amount
from core.formulas.grammar import parse
from core.formulas.question import laid_out
from core.formulas.syntax import leaves
from core.queries.kit.protocol import Dimension
from core.schema.domain import Domain
from core.theory.dimension import finite_class, vc_dimension

MOST_FORMULAS = 200
MOST_MARKS = 2**22
"""Formulas times combinations that are searched: about a second."""
STEPS = 20_000
"""Sets of records tried before the search settles for bounds, for a page that everybody may open."""


@dataclass(frozen=True, kw_only=True)
class FormulaClass:
    """What is known of a class of formulas."""

    formulas: int
    """How many were typed; some may say the same."""
    columns: Columns
    cells: int
    """Combinations of these columns."""
    vc: Dimension


def formula_class(texts: Sequence[str], domain: Domain) -> FormulaClass:
    """The class of the formulas that are not blank; records are the combinations of all the columns they name.

    >>> from core.schema.domain import Booleans, Integers
    >>> people = Domain((Integers(name="age", low=0, high=99), Booleans(name="ill")))
    >>> formula_class(["ill", "age < 50", "ill and age < 50", "ill or age < 50"], people).vc.high
    2
    """
    nodes = [parse(text, domain) for text in texts if text.strip()]
    if not nodes:
        raise BadParameter("formulas", "must be at least one; try age >= 65.")
    if len(nodes) > MOST_FORMULAS:
        raise BadParameter("formulas", f"must be at most {MOST_FORMULAS:,}.")
    named = {column for node in nodes for leaf in leaves(node) for column in leaf.columns}
    columns = tuple(name for name in domain.names if name in named)
    cells = domain.cells(columns)
    if len(nodes) * cells > MOST_MARKS:
        found = finite_class(math.log(len(nodes)), math.log(cells))
        why = f"{found.why}; {amount(cells)} combinations are too many to search"
        return FormulaClass(formulas=len(nodes), columns=columns, cells=cells, vc=Dimension(found.low, found.high, why))
    marks = np.array([laid_out(node, domain, also=columns)[1].ravel() for node in nodes])
    return FormulaClass(formulas=len(nodes), columns=columns, cells=cells, vc=vc_dimension(marks, STEPS))
