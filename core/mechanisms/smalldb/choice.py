"""One small database out of a public range, chosen by exact exponential mechanisms.

The score of a candidate y of m rows is, in whole numbers,

    -max over all questions q of |m q(x) - N q(y)|,

where q(.) is a total in units of 1/grid rows, x the private table and N its number of rows: m times the largest error,
in rows, of y scaled to N rows. N is public, or measured with a slice of the budget before the choice ('measured'), or
the exact private number ('exact'; a measured one then scales the release).

**Privacy** the score moves by at most m * unit.limit * grid between neighbours, for both kinds of N and of neighbours;
the proof is with the score itself, `kernel/scores.DatabaseErrors`. (F section 4 bounds the changes of m q(x) and N q(y)
one by one, which gives up to twice as much; but they have the same sign.)

Every method draws exactly. 'enumerate' lists all multisets; 'net' lists databases made from public randomness;
'search' pays for several choices in a row, each between the last database and changed copies of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from core.base.arrays import IntArray
from core.base.bisection import largest_that_fits
from core.base.errors import BadParameter, Refused
from core.base.wording import amount, plural
from core.kernel.kernel import Kernel
from core.kernel.noise_level import Additive
from core.kernel.scores import DatabaseErrors
from core.mechanisms.kit.portions import count_level, measure_rows
from core.mechanisms.kit.protocol import Expected, Progress
from core.mechanisms.kit.run_time import TABLE
from core.mechanisms.smalldb.candidates import MOST_CELLS, SmallDatabases, at, changed
from core.models.nets.public_net import multisets, random_net
from core.models.points import Points
from core.privacy.accounting import units
from core.privacy.budget import Budget
from core.privacy.events import Cost, Gaussian, Laplace, Selection
from core.privacy.spendable import mixed_capacity, mixed_order, mixed_rho_for
from core.privacy.unit import Unit
from core.queries.kit.checks import MOST_LISTED
from core.queries.kit.protocol import QueryClass
from core.schema.domain import Domain

Block = tuple[int, IntArray]
"""Answers of some databases, one line each, and the place of the first."""
MOST_DATABASES = 10**7
"""Databases that are listed and scored; some seconds for some tens of questions."""
MOST_ANSWERS = 2**31
"""Databases times questions (or rows): some minutes."""
MOST_HELD = 2**25
"""Rows of all databases of a net, or of one round's proposals: 256 MB."""
MOST_ROWS = 10_000
USUAL_ROWS = 32
"""Rows where nothing else is asked for: a finer database answers in smaller steps, but is harder to find."""
FINEST = 2**30
"""Rows times grid, so that tables of up to two thousand million rows are scored without clipping."""
SMALL_UNIVERSE = 2**14
"""Combinations up to which a noisy histogram is the better choice."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A database of `rows` rows, how it is looked for, and what that costs; nothing in it depends on data."""

    name: str
    queries: tuple[QueryClass, ...]
    domain: Domain
    unit: Unit
    budget: Budget
    rows: int
    method: str
    """'enumerate', 'net' or 'search'."""
    members: int = 0
    """Databases of a net."""
    rounds: int = 1
    """Choices of a search."""
    proposals: int = 0
    """Changed databases between which each of them chooses."""
    exact_total: bool = False
    """Whether scores compare with the exact private number of rows."""

    @cached_property
    def candidates(self) -> SmallDatabases:
        return SmallDatabases(self.queries, self.domain)

    @property
    def width(self) -> int:
        """Databases between which one choice is made."""
        if self.method == "enumerate":
            return multisets(self.candidates.cells, self.rows)
        return self.members if self.method == "net" else self.proposals + 1

    @property
    def events(self) -> tuple[Additive | None, Fraction]:
        """What the number of rows costs (None where it is public), and the epsilon of each choice."""
        return split_events(self.budget, self.unit.public_rows, self._choices, math.log(self.width))

    @property
    def cost(self) -> Cost:
        total, epsilon = self.events
        return Cost((*(() if total is None else (total,)), *(Selection(epsilon),) * self._choices))

    @property
    def _choices(self) -> int:
        return self.rounds if self.method == "search" else 1

    def check(self, *, asked: bool) -> None:
        """Refuse what cannot be run, or would be of no use and was not asked for, with the size and a better choice."""
        held, better = self.candidates, instead(self.domain)
        if self.rows * held.grid > FINEST:
            most = FINEST // held.grid
            raise BadParameter("rows", f"with weights as fine as these, use at most {amount(most)} rows.")
        if self.method == "enumerate" and not listable(held, self.rows):
            raise Refused(
                f"There are {amount(self.width)} databases of {plural(self.rows, 'row')} over {amount(held.cells)} "
                f"combinations, too many for '{self.name}' to compare on every question (it lists at most "
                f"{amount(MOST_DATABASES)}); use fewer rows, a search or a random net, or {better}."
            )
        if self.method != "enumerate" and not asked and held.cells > MOST_CELLS:
            raise Refused(
                f"The questions look at {amount(held.cells)} combinations, of which proposals made without the data "
                f"find almost none; use {better}, or columns with up to {amount(MOST_CELLS)} combinations."
            )
        if self.method != "enumerate" and self.width * self.rows > MOST_HELD:
            raise Refused(
                f"{amount(self.width)} databases of {plural(self.rows, 'row')} are more than the {amount(MOST_HELD)} "
                f"rows that '{self.name}' holds; use fewer of them, or {better}."
            )
        if _work(held, self.rows, self.width * self._choices) > MOST_ANSWERS:
            raise Refused(
                f"Comparing {amount(self.width * self._choices)} databases of {plural(self.rows, 'row')} on all "
                f"questions needs more than {amount(MOST_ANSWERS)} answers; use fewer of them, or {better}."
            )
        _ = self.events  # refuses a budget too small for any choice

    def expected(self, left_out: str) -> Expected:
        """P(loss of the choice > (2 limit/epsilon) (ln|R| + t)) <= exp(-t), and the noise of the number of rows."""
        total, epsilon = self.events
        scale, log_width = 2 * self.unit.limit / float(epsilon), math.log(self.width)
        mean, worst, failure = scale * (log_width + 1), 0.0, 0.05
        if total is not None:
            level, failure = count_level(total, self.unit), failure / 2
            mean += level.mean_error
            worst += level.tail(failure)
        worst += scale * (log_width + math.log(1 / failure))
        return Expected(mean=mean, worst=worst, about=f"Every answer, beyond {left_out}")

    def promise(self, rows: int) -> float | None:
        """What the best of all databases may miss, and what the choice loses; nothing is proven of fewer databases."""
        if self.method != "enumerate" or math.isinf(self.candidates.log_questions):
            return None
        error = missed_share(self.candidates, self.rows) * rows + self.expected("").worst
        return error if error < rows else None

    def seconds(self) -> float:
        """Measured: listed databases are looked up piece by piece; random ones are drawn row by row."""
        compared = self.width * self._choices
        work = _work(self.candidates, self.rows, compared)
        drawn = 0.0 if self.method == "enumerate" else 1.2e-6 * compared * self.rows
        return TABLE + (3e-8 if self.method == "enumerate" else 1.5e-8) * work + drawn

    def run(self, kernel: Kernel, progress: Progress) -> Points:
        progress("Counting the private table", 0.0)
        total, epsilon = self.events
        public, told, event = kernel.generator(), measure_rows(kernel, total), Selection(epsilon)

        def choose(databases: IntArray) -> IntArray:
            errors = self._errors(len(databases), lambda: self.candidates.blocks(databases), told)
            chosen: IntArray = databases[kernel.choose(errors, event)]
            return chosen

        if self.method == "enumerate":
            place = kernel.choose(self._errors(self.width, lambda: self._listed(progress), told), event)
            database = at(self.candidates.cells, self.rows, np.array([place]))[0]
        else:
            database = choose(random_net(self.candidates.cells, self.width, self.rows, public))
            for done in range(1, self._choices):
                progress("Choosing between changed databases", done / self._choices)
                proposed = changed(database, self.proposals, self.candidates.shape, public)
                database = choose(np.concatenate([database[None], proposed]))
        codes = self.candidates.records(database, public)
        return Points(self.domain, codes, np.full(self.rows, told / self.rows))

    def _errors(self, size: int, answers: Callable[[], Iterator[Block]], told: int) -> DatabaseErrors:
        return DatabaseErrors(
            queries=self.queries,
            domain=self.domain,
            rows=self.rows,
            size=size,
            answers=answers,
            told=None if self.exact_total else told,
        )

    def _listed(self, progress: Progress) -> Iterator[Block]:
        """The answers of all databases."""
        for start, answers in self.candidates.every_block(self.rows):
            progress("Comparing databases", start / self.width)
            yield start, answers


def instead(domain: Domain) -> str:
    """The mechanism that serves a schema too large for small databases."""
    return "'histogram'" if domain.cells() <= SMALL_UNIVERSE else "'tree'"


def comparable(name: str, queries: tuple[QueryClass, ...], domain: Domain) -> SmallDatabases:
    """The candidates of a schema, unless their questions or their rows cannot even be numbered."""
    for query in queries:
        query.check(domain)
    found = SmallDatabases(queries, domain)
    if found.log_questions > math.log(MOST_LISTED):
        raise Refused(
            f"These classes hold over {amount(MOST_LISTED)} questions, too many for '{name}' to compare one by one; "
            f"choose fewer columns or a lower order, or use {instead(domain)}."
        )
    if found.cells >= 2**62:
        raise Refused(
            f"The questions look at {amount(found.cells)} combinations and '{name}' numbers at most 2^62; choose fewer "
            "columns or coarser bins, or use 'tree'."
        )
    return found


def listable(candidates: SmallDatabases, rows: int) -> bool:
    """Whether all databases of so many rows can be compared; a public rule."""
    if not candidates.tabulated:
        return False
    count = multisets(candidates.cells, rows)
    return count <= MOST_DATABASES and _work(candidates, rows, count) <= MOST_ANSWERS


def listable_rows(candidates: SmallDatabases) -> int:
    """The most rows, up to the usual number, of which all databases can be compared; at least one."""
    return max((rows for rows in range(1, USUAL_ROWS + 1) if listable(candidates, rows)), default=1)


def missed_share(candidates: SmallDatabases, rows: int) -> float:
    """How much of the table the best of all databases of so many rows may miss, by Hoeffding's inequality."""
    return min(1.0, math.sqrt((math.log(2) + candidates.log_questions) / (2 * rows)))


def missed(candidates: SmallDatabases, rows: int) -> str:
    share = missed_share(candidates, rows)
    return f"the best database of {plural(rows, 'row')}, itself within {math.ceil(1000 * share) / 10:g} % of the table"


def _work(candidates: SmallDatabases, rows: int, count: int) -> float:
    return count * max(math.exp(min(candidates.log_questions, 700.0)), rows)


@lru_cache(maxsize=256)
def split_events(budget: Budget, public_rows: bool, choices: int, log_width: float) -> tuple[Additive | None, Fraction]:
    """A budget as a measured number of rows and equal choices.

    The split makes the sum of the two mean errors least: 1/s for the number of rows and 2 T (ln|R| + 1)/(1 - s) for T
    choices with a share s of a pure epsilon; sqrt(1/(pi s)) and 2 (ln|R| + 1) sqrt(T/(8 (1 - s))) with one of a rho.
    """
    loss = 2 * (log_width + 1)
    if budget.pure:
        share = _share(math.sqrt(1 / (loss * choices)))
        total = None if public_rows else Laplace(budget.epsilon * share)
        return total, budget.epsilon * (1 if total is None else 1 - share) / choices
    share = _share((1 / (loss * math.sqrt(math.pi * choices / 8))) ** (2 / 3))
    measured = None if public_rows else Gaussian(mixed_rho_for(budget) * share)
    return measured, _selection(budget, measured, choices)


def _share(odds: float) -> Fraction:
    return max(Fraction(odds / (1 + odds)).limit_denominator(1000), Fraction(1, 1000))


def _selection(budget: Budget, total: Gaussian | None, choices: int) -> Fraction:
    """The largest epsilon of equal selections that fits beside the measured total.

    A Selection(e) costs at most e^2/8 in zero-concentrated privacy, and less at the account's own order.
    """
    held, order, grain = mixed_capacity(budget), mixed_order(budget), 2**40
    spent = () if total is None else (total,)

    def fits(steps: int) -> bool:
        return units(Cost((*spent, *(Selection(Fraction(steps, grain)),) * choices)), order) <= held

    steps = largest_that_fits(fits, start=grain, bits=20)
    if steps == 0:
        raise BadParameter("epsilon", "is too small to choose anything at this delta; try 1.")
    return Fraction(steps, grain)
