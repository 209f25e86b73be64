"""One small database over an ordered column, chosen among all of them: counted instead of listed.

The score is the worst prefix instead of the worst interval, so that databases of one score are paths in a band
(`kernel/databases`); an interval is a difference of two prefixes, hence off by at most twice as much.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from core.base.errors import Refused
from core.base.wording import amount, plural
from core.kernel.databases.bands import MOST_BITS, check_platform, has_extended
from core.kernel.databases.prefix_databases import MOST_PIECES, PrefixDatabases, log_databases
from core.kernel.kernel import Kernel
from core.kernel.noise_level import Additive
from core.mechanisms.kit.portions import count_level, measure_rows
from core.mechanisms.kit.protocol import Expected, Progress
from core.mechanisms.kit.run_time import TABLE
from core.mechanisms.smalldb.candidates import SmallDatabases
from core.mechanisms.smalldb.choice import split_events
from core.models.points import Points
from core.privacy.budget import Budget
from core.privacy.events import Cost, Selection
from core.privacy.unit import Unit
from core.queries.intervals import Intervals
from core.queries.kit.protocol import QueryClass
from core.schema.domain import Domain

USUAL_PATH_ROWS = 256
"""Rows where nothing else is asked for: prefixes of the best such database are within 0.2 % of the table."""
BANDS = 20
"""Whole bands whose counting takes as long as one draw, about; 10 to 37 were measured from 2^10 to 2^16 cells."""


@dataclass(frozen=True, kw_only=True)
class PathChoice:
    """A database of `rows` rows over the pieces of one column; nothing in it depends on data."""

    name: str
    query: Intervals
    domain: Domain
    unit: Unit
    budget: Budget
    rows: int

    @cached_property
    def candidates(self) -> SmallDatabases:
        return SmallDatabases((self.query,), self.domain)

    @cached_property
    def cuts(self) -> list[int]:
        """Where pieces begin; 'missing' is a last piece."""
        cuts, size = [int(cut) for cut in self.query.edges(self.domain)], self.domain[self.query.column].size
        return cuts if cuts[-1] == size else [*cuts, size]

    @property
    def pieces(self) -> int:
        return len(self.cuts) - 1

    @property
    def log_width(self) -> float:
        return log_databases(self.pieces, self.rows)

    @property
    def events(self) -> tuple[Additive | None, Fraction]:
        """What the number of rows costs (None where it is public), and the epsilon of the choice."""
        return split_events(self.budget, self.unit.public_rows, 1, self.log_width)

    @property
    def cost(self) -> Cost:
        total, epsilon = self.events
        return Cost((*(() if total is None else (total,)), Selection(epsilon)))

    @property
    def countable(self) -> bool:
        return has_extended() and self.pieces <= MOST_PIECES + 1 and self.log_width <= MOST_BITS * math.log(2)

    def check(self, *, asked: bool) -> None:
        """Refuse what cannot be counted."""
        check_platform()
        if not self.countable:
            raise Refused(
                f"Databases of {plural(self.rows, 'row')} over {amount(self.pieces)} values are too many for "
                f"'{self.name}' to count; use fewer rows or coarser bins, or 'interval-tree'."
            )
        _ = self.events  # refuses a budget too small for any choice

    def expected(self) -> Expected:
        """Twice what a prefix loses: a step of the score and P(loss > (2 L/epsilon)(ln|R| + t)) <= exp(-t)."""
        total, epsilon = self.events
        scale, step = 2 * self.unit.limit / float(epsilon), self.unit.limit
        mean, worst, failure = 2 * (step + scale * (self.log_width + 1)), 0.0, 0.05
        if total is not None:
            level, failure = count_level(total, self.unit), failure / 2
            mean += 2 * level.mean_error
            worst += 2 * level.tail(failure)
        worst += 2 * (step + scale * (self.log_width + math.log(1 / failure)))
        best = f"the best database of {plural(self.rows, 'row')}, itself within {100 / self.rows:.2g} % of the table"
        return Expected(mean=mean, worst=worst, about=f"Every answer, beyond {best}")

    def promise(self, rows: int) -> float | None:
        """A prefix of the best database is off by at most n/(2 m) rows, an interval by n/m."""
        error = rows / self.rows + self.expected().worst
        return error if error < rows else None

    def seconds(self) -> float:
        return TABLE + BANDS * self.pieces * (8e-6 + 1e-8 * self.rows)

    def run(self, kernel: Kernel, progress: Progress) -> Points:
        progress("Counting databases", 0.0)
        total, epsilon = self.events
        told = measure_rows(kernel, total)
        asked = PrefixDatabases(self.query.column, np.array(self.cuts), self.rows, max(told, 1))
        held = kernel.choose_database(asked, Selection(epsilon))
        public = kernel.generator()
        pieces = np.repeat(np.arange(self.pieces), held)
        cells = public.integers(np.array(self.cuts)[pieces], np.array(self.cuts)[pieces + 1])
        return Points(self.domain, self.candidates.records(cells, public), np.full(self.rows, told / self.rows))


def ordered_column(queries: tuple[QueryClass, ...]) -> Intervals | None:
    """The class, if it is one that paths serve."""
    return queries[0] if len(queries) == 1 and isinstance(queries[0], Intervals) else None
