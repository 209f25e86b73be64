"""Ranges of a column by noisy binary search (B section 4): the paper's mechanism."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from core.base.arrays import Columns, Floats
from core.base.errors import BadParameter, Refused
from core.base.options import option
from core.base.wording import rows
from core.kernel.kernel import Kernel
from core.kernel.noise_level import Additive
from core.kernel.tables import Interval
from core.mechanisms.kit.portions import beside_total, count_level, measure_total, share_of, total_events
from core.mechanisms.kit.protocol import Expected, Progress, silent
from core.mechanisms.kit.run_time import QUESTION, counting
from core.mechanisms.kit.settings import accuracy_option, failure_option, settle
from core.models.range_tables import Ranges, ranges
from core.privacy.budget import Budget
from core.privacy.events import Cost
from core.privacy.unit import Unit
from core.queries.intervals import Intervals
from core.queries.kit.protocol import QueryClass
from core.queries.unions import Unions
from core.schema.domain import Domain

MOST_QUERIES = 200_000
"""Private questions of one run; each takes about a tenth of a millisecond and the same share of the budget."""


@dataclass(frozen=True)
class SearchColumn:
    """One column to be cut into pieces, and how finely."""

    name: str
    cuts: NDArray[np.int64]
    """Where a piece may begin or end, counted in cells."""
    accuracy: float

    @property
    def bits(self) -> int:
        return max(1, math.ceil(math.log2(len(self.cuts) - 1)))

    @property
    def limit(self) -> int:
        """Private questions: 4/accuracy pieces, each found by a search over at most b bits."""
        return math.ceil(4 * self.bits / self.accuracy)


@dataclass(frozen=True)
class Piece:
    """A run of cells with a mass; the mass is spread evenly over the run."""

    first: int
    last: int
    mass: float


@dataclass(frozen=True, kw_only=True)
class IntervalSearch:
    """Cut a column into pieces of about equal mass by binary search with noisy counts, and publish pieces and masses.

    The paper's letters: accuracy is epsilon, epsilon_1 = accuracy/2, epsilon_2 = accuracy^2/8; a piece is accepted when
    its noisy mass is near epsilon_1/2. A single cell that is too heavy becomes a piece of its own. For unions of t
    intervals the accuracy is divided by t (remark in B section 4).

    **Privacy** at most 4b/accuracy counts of one interval each are asked, b being the bits of the column; after that
    the search stops, whatever it has found. Each count changes by at most unit.limit between neighbours and gets
    discrete Laplace noise of scale unit.limit 4b/(accuracy epsilon), or, with delta > 0, Gaussian noise of an equal
    share of rho. Which count is asked next depends on earlier noisy answers only. A private number of rows costs 1/50
    of the budget.

    **Accuracy** with probability 1 - beta every interval is within accuracy (a share of all rows) if the table has
    `required_rows`: (32/accuracy^2) times the tail of one noisy count, which for Laplace noise is about
    (128 b unit.limit/(epsilon accuracy^3)) ln(8b/(accuracy beta)). Every noisy count then errs by at most epsilon_2/4
    of the rows, and accepted pieces lie within 3 epsilon_2/4 of epsilon_1/2 as measured, within epsilon_2 in truth. An
    interval's ends cut at most two pieces and at most (4/accuracy)/(1 - accuracy/2) lie inside, together at most
    accuracy as long as that is below 0.8, also when the limit on questions leaves a last piece of up to accuracy/2.
    This holds for `mass` 'noisy'; for 'equal', where all pieces get the same as in the paper, only without heavy cells.

    **Runtime** O(cells + 4b/accuracy).

    Theorem: B theorem 4.2 (Blum, Ligett and Roth 2008).
    """

    name: ClassVar[str] = "interval-search"
    title: ClassVar[str] = "Ranges by noisy binary search (the paper's)"
    known_as: ClassVar[tuple[str, ...]] = ("noisy binary search",)
    prefer: ClassVar[str] = "Choose it to see the paper's theorem at work; 'interval-tree' is far more accurate."
    for_study: ClassVar[bool] = True

    queries: tuple[QueryClass, ...]
    budget: Budget
    accuracy: float = accuracy_option("Largest error of a range, as a share of all rows, that the pieces are made for.")
    beta: float = failure_option()
    mass: str = option(
        "choice",
        "Mass of a piece",
        default="noisy",
        choices=("noisy", "equal"),
        help="'noisy' keeps each piece's own noisy mass; 'equal' gives all pieces the same, as in the paper.",
    )

    def __post_init__(self) -> None:
        settle(self)

    def check(self, domain: Domain, unit: Unit) -> None:
        for query in self.queries:
            query.check(domain)
            if not isinstance(query, Intervals | Unions):
                raise Refused(
                    f"'interval-search' serves intervals and unions of intervals, not '{query.name}'; use "
                    "'rectangle-search' for rectangles, and 'tree' for tables."
                )
        asked = sum(column.limit for column in self._columns(domain))
        if asked > MOST_QUERIES:
            least = math.ceil(1e4 * self.accuracy * asked / MOST_QUERIES) / 1e4
            raise BadParameter("accuracy", f"needs {asked:,} private questions; use at least {least:g}.")

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        priced = zip(self._events(domain, unit), self._columns(domain), strict=True)
        asked = [event for event, column in priced for _ in range(column.limit)]
        return Cost.of([*asked, *total_events(self.budget, unit)])

    def required_rows(self, domain: Domain, unit: Unit) -> int:
        """Rows from which on the accuracy is proven."""
        needed = 0.0
        for column, event in zip(self._columns(domain), self._events(domain, unit), strict=True):
            tail = count_level(event, unit).tail(self.beta / (len(self._columns(domain)) * (column.limit + 1)))
            needed = max(needed, 32 * tail / column.accuracy**2)
        return math.ceil(needed)

    def expected(self, domain: Domain, unit: Unit) -> Expected:
        """Noise only: it adds up over the pieces inside a range. How much the cut pieces hide depends on the rows."""
        columns = self._columns(domain)
        levels = [count_level(event, unit) for event in self._events(domain, unit)]
        mean = sum(
            level.sigma * math.sqrt(2 / math.pi) * math.sqrt(4 / column.accuracy / 3)
            for column, level in zip(columns, levels, strict=True)
        )
        worst = max(
            level.tail(0.05 / column.limit) * math.sqrt(4 / column.accuracy)
            for column, level in zip(columns, levels, strict=True)
        )
        needed = rows(self.required_rows(domain, unit))
        hidden = f"{self.accuracy / 2:.1%} of all rows that the cut pieces hide"
        about = f"The noise in a range, beside the {hidden} (proven from {needed})"
        return Expected(mean=mean / len(columns), worst=worst, about=about)

    def promise(self, domain: Domain, unit: Unit, rows: int) -> float | None:
        """Its own proof, which is for noisy masses and accuracies below 0.8."""
        proven = self.mass == "noisy" and self.beta <= 0.05 and self.accuracy < 0.8
        return self.accuracy * rows if proven and rows >= self.required_rows(domain, unit) else None

    def seconds(self, domain: Domain, unit: Unit) -> float:
        columns = self._columns(domain)
        return counting([(column.name,) for column in columns], domain) + QUESTION * sum(c.limit for c in columns)

    def run(self, kernel: Kernel, progress: Progress = silent) -> Ranges:
        self.check(kernel.domain, kernel.unit)
        total = measure_total(kernel, self.budget)
        tables: dict[Columns, Floats] = {}
        columns = self._columns(kernel.domain)
        for done, (column, event) in enumerate(zip(columns, self._events(kernel.domain, kernel.unit), strict=True)):
            progress("Searching for pieces", done / len(columns))

            def mass(first: int, last: int, column: SearchColumn = column, event: Additive = event) -> int:
                piece = Interval(column.name, int(column.cuts[first]), int(column.cuts[last]))
                return int(kernel.measure(piece, event).values)

            found = search(mass, column, total)
            tables[column.name,] = _spread(found, column, kernel.domain[column.name].size, self.mass == "equal")
        return ranges(kernel.domain, tables, total, kernel.generator())

    def _columns(self, domain: Domain) -> tuple[SearchColumn, ...]:
        """Each column once: the finest cuts and the most parts that any class asks for; 'missing' is a last piece."""
        found: dict[str, SearchColumn] = {}
        for query in self.queries:
            if not isinstance(query, Intervals | Unions):
                continue
            cuts = query.edges(domain)
            if cuts[-1] < domain[query.column].size:
                cuts = np.append(cuts, domain[query.column].size)
            accuracy = self.accuracy / (query.parts if isinstance(query, Unions) else 1)
            if (other := found.get(query.column)) is not None:
                cuts, accuracy = np.union1d(cuts, other.cuts), min(accuracy, other.accuracy)
            found[query.column] = SearchColumn(query.column, cuts, accuracy)
        return tuple(found.values())

    def _events(self, domain: Domain, unit: Unit) -> tuple[Additive, ...]:
        """What one count of each column costs."""
        columns = self._columns(domain)
        share = beside_total(unit) / len(columns)
        return tuple(share_of(self.budget, share / column.limit) for column in columns)


def search(mass: Callable[[int, int], int], column: SearchColumn, total: float) -> list[Piece]:
    """Pieces from left to right. The only thing that is known of the data is what `mass` answers."""
    wanted, slack = column.accuracy / 4 * total, 3 / 32 * column.accuracy**2 * total
    end, left, asked = len(column.cuts) - 1, 0, 0
    found: list[Piece] = []
    while left < end:
        low, high = left, end
        below, above = 0.0, total - sum(piece.mass for piece in found)
        while high - low > 1 and asked < column.limit:
            middle, asked = (low + high) // 2, asked + 1
            noisy = float(mass(left, middle))
            if noisy < wanted - slack:
                low, below = middle, noisy
            elif noisy > wanted + slack:
                high, above = middle, noisy
            else:
                low, high, below = middle, middle, noisy
        if low > left:
            found.append(Piece(left, low, below))
        if high > low:
            # From too light to too heavy in one cell, or the questions are used up.
            found.append(Piece(low, high, above - below))
        left = high
    return found


def _spread(found: list[Piece], column: SearchColumn, cells: int, equal: bool) -> Floats:
    """Each piece's mass, evenly over its cells; what noise made negative is empty."""
    table = np.zeros(cells)
    for piece in found:
        first, last = column.cuts[piece.first], column.cuts[piece.last]
        table[first:last] = (1.0 if equal else max(piece.mass, 0.0)) / (last - first)
    return table
