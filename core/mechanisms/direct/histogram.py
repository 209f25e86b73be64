"""A noisy histogram of the whole universe: the best choice while the universe is small."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from core.base.errors import Refused
from core.base.wording import amount
from core.kernel.kernel import Kernel
from core.mechanisms.kit.portions import TOTAL_SHARE, Portion, divide, expected_of, measure_tables, price
from core.mechanisms.kit.protocol import Expected, Progress, silent
from core.mechanisms.kit.run_time import CELL, TABLE
from core.mechanisms.kit.settings import settle
from core.models.fitting.consistency import total_of
from core.models.fitting.simplex import simplex
from core.models.histogram import MOST_CELLS, Histogram
from core.privacy.budget import Budget
from core.privacy.events import Cost, Gaussian, Laplace
from core.privacy.unit import Unit
from core.queries.kit.protocol import QueryClass
from core.schema.domain import Domain


@dataclass(frozen=True, kw_only=True)
class NoisyHistogram:
    """Add noise to the count of every possible record and keep the nearest non-negative histogram.

    **Privacy** epsilon-differentially private (discrete Laplace, delta = 0) or sqrt(2 rho)-GDP (rounded Gaussian),
    split between the histogram and, where it is not public, the number of rows.

    **Accuracy** a cell is off by about unit.l1/epsilon; a sum of k cells by about sqrt(k) times that, before the
    projection, which removes most of the error of empty cells.

    **Runtime** O(cells log cells).

    Theorem: B section 2.4; parallel composition over the disjoint cells of one table.
    """

    name: ClassVar[str] = "histogram"
    title: ClassVar[str] = "Noisy histogram of every combination"
    known_as: ClassVar[tuple[str, ...]] = ("noisy histogram", "parallel composition")
    prefer: ClassVar[str] = "Choose it for questions about all columns together, up to some 16,000 combinations."
    for_study: ClassVar[bool] = False

    queries: tuple[QueryClass, ...]
    budget: Budget

    def __post_init__(self) -> None:
        settle(self)

    def check(self, domain: Domain, unit: Unit) -> None:
        for query in self.queries:
            query.check(domain)
        cells = domain.cells()
        if cells > MOST_CELLS:
            raise Refused(
                f"The schema has {amount(cells)} combinations and 'histogram' holds at most {amount(MOST_CELLS)}; "
                "choose fewer columns or coarser bins, or use 'tree'."
            )

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        return price(self._portions(domain, unit))

    def expected(self, domain: Domain, unit: Unit) -> Expected:
        return expected_of(self._portions(domain, unit)[:1], domain, unit, "The count of each combination")

    def seconds(self, domain: Domain, unit: Unit) -> float:
        return TABLE + CELL * domain.cells()

    def run(self, kernel: Kernel, progress: Progress = silent) -> Histogram:
        self.check(kernel.domain, kernel.unit)
        progress("Measuring the histogram", 0.1)
        noisy = measure_tables(kernel, self._portions(kernel.domain, kernel.unit))
        progress("Removing negative counts", 0.7)
        total = total_of(noisy.tables, noisy.sigmas, kernel.public_rows)
        return Histogram(kernel.domain, simplex(noisy.tables[kernel.domain.names], total))

    def _portions(self, domain: Domain, unit: Unit) -> tuple[Portion, ...]:
        """The histogram first; the number of rows second unless it is public anyway."""
        shares = {tuple(domain.names): 1.0}
        if not unit.public_rows:
            shares[()] = float(TOTAL_SHARE)
        return divide(shares, self.budget, Laplace if self.budget.pure else Gaussian)
