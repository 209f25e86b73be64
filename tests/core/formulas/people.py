"""A public schema with every kind of column, for formulas about it."""

from __future__ import annotations

import numpy as np

from core.formulas.question import question
from core.schema.domain import Booleans, Categories, Dates, Domain, Integers, Reals

PEOPLE = Domain(
    (
        Integers(name="age", low=0, high=99, bins=10, missing=True),
        Integers(name="hours", low=-5, high=99),
        Reals(name="income", low=0, high=1, bins=10),
        Categories(name="region", values=("north", "east", "south side", "it's"), other="elsewhere", missing=True),
        Booleans(name="ill"),
        Dates(name="born", low="2000-01-01", high="2000-01-30", bins=10),
        Categories(name="marital status", values=("single", "and")),
        Categories(name="code", values=(1, 2, -3)),
        Integers(name="capital-gain", low=0, high=9),
    )
)


def cells(text, domain=PEOPLE):
    """The labels of the cells that a formula about one column holds."""
    found = question(text, domain)
    (column,) = found.columns
    return [domain[column].label(int(code)) for code in np.flatnonzero(found.weights)]
