"""How exact one column would come out, before its table is read: invented counts in its bins, with error bars.

**Privacy** Nothing private is looked at: counts are those of an invented table that follows from the schema, and the
error follows from the number of bins, the unit and the budget.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.base.arrays import Floats
from core.mechanisms.direct.gaussian import GaussianTables
from core.mechanisms.direct.laplace import LaplaceTables
from core.planning.simulation.stand_ins import StandIns
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.marginals import Marginals
from core.schema.attributes import Attribute
from core.schema.domain import Domain

MIDDLE, SPREAD = 0.45, 0.2
"""Where in a range most invented rows are, and how far they spread, as parts of it."""
SKEW = 0.8
"""The exponent by which categories get rarer."""
ASIDE = 0.02
"""The part of the rows that is missing, and that is other."""


@dataclass(frozen=True, eq=False)
class ColumnPreview:
    """Invented counts of one column, and how far released ones would be off."""

    counts: Floats
    error: float
    """All counts stay within this many rows, 95 % of the time."""
    rows: int

    @property
    def lost(self) -> int:
        """Bins whose count is below the error: nothing could be said about them."""
        return int((self.counts < self.error).sum())


def preview_column(attribute: Attribute, unit: Unit, budget: Budget, rows: int) -> ColumnPreview:
    """What the bins of a column would look like if its counts alone were released for this budget."""
    domain = Domain((attribute,))
    public = StandIns.of(domain, unit, rows, sketch={attribute.name: usual_shape(attribute).tolist()})
    kind = LaplaceTables if budget.pure else GaussianTables
    expected = kind(queries=(Marginals(order=1),), budget=budget).expected(domain, unit)
    return ColumnPreview(public.table(0).marginal((attribute.name,)).astype(float), expected.worst, public.rows)


def usual_shape(attribute: Attribute) -> Floats:
    """Weights of the cells of a column of which nothing is known: a hill over a range, categories ever rarer.

    One drawn at random could have all rows in one bin, and would call the best bins too many.
    """
    places = np.arange(attribute.regular)
    if attribute.ordered:
        weights = np.exp(-0.5 * (((places + 0.5) / attribute.regular - MIDDLE) / SPREAD) ** 2)
    else:
        weights = (places + 1.0) ** -SKEW
    aside = attribute.size - attribute.regular
    return np.concatenate([weights * ((1 - ASIDE * aside) / weights.sum()), np.full(aside, ASIDE)])
