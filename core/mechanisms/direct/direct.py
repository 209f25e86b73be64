"""Noise on every table that the query classes need: the baseline which every other mechanism is shown against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from core.base.errors import Refused
from core.base.wording import amount
from core.kernel.kernel import Kernel
from core.mechanisms.kit.portions import Portion, expected_of, measure_tables, portions, price, wanted
from core.mechanisms.kit.protocol import Expected, Progress, silent
from core.mechanisms.kit.run_time import counting
from core.mechanisms.kit.settings import settle
from core.models.tables import Tables, fit
from core.privacy import events as privacy
from core.privacy.budget import Budget
from core.privacy.events import Cost
from core.privacy.unit import Unit
from core.queries.kit.protocol import QueryClass
from core.schema.domain import Domain

MOST_CELLS = 2**25
"""Counts in all tables together; more would need over a gigabyte while they are made consistent."""

RAKING = 0.004
"""Seconds to fit 200,000 points to one table; several small ones share a pass over the points."""


@dataclass(frozen=True, kw_only=True)
class Direct:
    """Measure each table once, make the tables agree, and fit records to them.

    The two kinds of noise are `LaplaceTables` and `GaussianTables`; this holds what they share.
    """

    name: ClassVar[str]
    kind: ClassVar[type[privacy.Laplace] | type[privacy.Gaussian]]

    queries: tuple[QueryClass, ...]
    budget: Budget

    def __post_init__(self) -> None:
        settle(self)

    def check(self, domain: Domain, unit: Unit) -> None:
        tables = wanted(self.queries, domain)
        cells = sum(domain.cells(columns) for columns in tables)
        if cells > MOST_CELLS:
            raise Refused(
                f"These query classes need {amount(cells)} noisy counts and '{self.name}' holds at most "
                f"{amount(MOST_CELLS)}; choose fewer columns, coarser bins or a lower order."
            )

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        return price(self._portions(domain))

    def expected(self, domain: Domain, unit: Unit) -> Expected:
        return expected_of(self._portions(domain), domain, unit, "Each count in a table")

    def seconds(self, domain: Domain, unit: Unit) -> float:
        tables = wanted(self.queries, domain)
        return counting(tables, domain) + RAKING * len(tables)

    def run(self, kernel: Kernel, progress: Progress = silent) -> Tables:
        self.check(kernel.domain, kernel.unit)
        progress("Measuring tables", 0.0)
        noisy = measure_tables(kernel, self._portions(kernel.domain))
        progress("Fitting records", 0.5)
        return fit(kernel.domain, noisy.tables, noisy.sigmas, kernel.public_rows, kernel.generator())

    def _portions(self, domain: Domain) -> tuple[Portion, ...]:
        return portions(wanted(self.queries, domain), domain, self.budget, self.kind)
