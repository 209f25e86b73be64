"""What every step of the tree mechanism is given: a kernel, and the budget that it spends in parts.

What a step asks depends on the schema and on earlier noisy answers only; the kernel scales the noise to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from core.base.arrays import Columns, Floats
from core.kernel.kernel import Kernel
from core.kernel.noise_level import Additive, MeasuredTogether, Measurement
from core.kernel.tables import TOTAL, Distances
from core.mechanisms.kit.portions import Noisy
from core.mechanisms.kit.spending import Spending
from core.mechanisms.tree.coarse import Views
from core.mechanisms.tree.interactions import BestAsked, measure
from core.mechanisms.tree.pairs import Candidates
from core.privacy.events import Gaussian, Pure

LARGEST_TOTAL = 2.0**50


@dataclass(frozen=True, eq=False)
class Measuring:
    """A kernel, and what its measurements are paid with."""

    kernel: Kernel
    spending: Spending

    def rows(self, part: Fraction) -> tuple[float, float]:
        """The number of rows and its standard deviation: public, or bought with this part."""
        if self.kernel.public_rows is not None:
            return float(self.kernel.public_rows), 0.0
        measured = self.kernel.measure(TOTAL, self.spending.event(part))
        return min(max(float(measured.values), 1.0), LARGEST_TOTAL), measured.sigma

    def rows_again(self, known: tuple[float, float], part: Fraction) -> tuple[float, float]:
        """The same, once more for this part; what is known exactly stays."""
        if not known[1]:
            return known
        value, sigma = self.rows(part)
        mine, theirs = known[1] ** -2, sigma**-2
        return (mine * known[0] + theirs * value) / (mine + theirs), (mine + theirs) ** -0.5

    def tables(self, shares: Mapping[Columns, float], part: Fraction) -> Noisy:
        """Noisy tables or interactions that together take this part."""
        return measure(self.kernel, self.spending.split(shares, part), self.spending.pure)

    def distances(
        self, columns: Sequence[Columns], weights: Mapping[Columns, float], models: Sequence[Floats], part: Fraction
    ) -> Candidates:
        """Noisy distances of all these tables from the model's, which are rounded to whole rows first."""
        references = tuple(np.rint(model).astype(np.int64) for model in models)
        measured = self._scored(Distances(tuple(columns), references), self.spending.event(part))
        gains = {each: self.best(each).gain for each in columns}
        return Candidates.of(columns, weights, models, measured.values, measured.sigma, gains)

    def _scored(self, asked: Distances, event: Additive) -> Measurement | MeasuredTogether:
        """Distances with the noise that is least for many of them at the same price."""
        if isinstance(event, Gaussian):
            return self.kernel.measure(asked, event)
        return self.kernel.measure_together(asked, Pure(event.epsilon))

    def best(self, columns: Columns) -> BestAsked:
        """How a table is measured."""
        return BestAsked.of(columns, self.kernel.domain, self.kernel.unit, self.spending.pure)

    def through(self, views: Views) -> Measuring:
        """The same rows with rare values merged, and with large columns in bins as well."""
        return replace(self, kernel=self.kernel.recoded(views.domain, views.recodings()))
