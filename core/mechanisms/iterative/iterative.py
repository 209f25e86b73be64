"""What the iterative constructions share: options, checks, cost and the run; `construct.py` has the loop."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from core.base.arrays import Columns
from core.base.errors import BadParameter, Refused
from core.base.options import option
from core.base.wording import amount
from core.kernel.kernel import Kernel
from core.kernel.noise_level import NoiseLevel
from core.mechanisms.iterative.construct import SLACK, construct
from core.mechanisms.iterative.distinguish import Distinguisher, WorstInterval, WorstMember, WorstTable
from core.mechanisms.kit.portions import Portion, count_level, wanted
from core.mechanisms.kit.protocol import Expected, Progress, silent
from core.mechanisms.kit.proven import promised_at
from core.mechanisms.kit.run_time import TABLE
from core.mechanisms.kit.schedule import Schedule, lay_out
from core.mechanisms.kit.settings import accuracy_option, replay_option, rounds_option, settle
from core.models.fitting.updates import Update
from core.models.histogram import MOST_CELLS
from core.privacy.budget import Budget
from core.privacy.events import Cost
from core.privacy.unit import Unit
from core.queries.intervals import Intervals
from core.queries.kit import checks
from core.queries.kit.protocol import QueryClass
from core.queries.kit.question import log_size_of
from core.schema.domain import Domain
from core.theory.iterative import ExponentialDistinguisher, IterativeBound, UpdateBound

TOTAL_SHARE = 0.05
"""Part of the budget for the number of rows, where that is private and no first table tells it."""
FIRST_SHARE = 0.2
"""Part of the budget for one-column tables before the first choice, where whole tables are asked."""
MOST_ROUNDS = 100_000


@dataclass(frozen=True, kw_only=True)
class Iterative:
    """Options and steps of an iterative construction; a subclass brings the update."""

    name: ClassVar[str]

    queries: tuple[QueryClass, ...]
    budget: Budget
    variant: str = option(
        "choice",
        "Variant",
        default="tuned",
        choices=("tuned", "theorem"),
        help="'tuned' makes a fixed number of rounds; 'theorem' has the paper's constants and stopping rule.",
    )
    rounds: int = rounds_option(
        "Rounds of choosing and measuring in the tuned variant; 0 lets the schema and the classes decide.",
        most=MOST_ROUNDS,
    )
    accuracy: float = accuracy_option("Largest error to promise in the theorem variant, as a share of the rows.")
    questions: str = option(
        "choice",
        "Questions",
        default="auto",
        choices=("auto", "tables", "members"),
        help="Whole tables or single questions; auto asks tables where a class is made of several. "
        "The theorem variant always asks single questions.",
    )
    selection: float = option(
        "real",
        "Share for choosing",
        default=0.0,
        low=0.0,
        below=1.0,
        help="Part of each round's budget that pays for choosing; 0 takes 0.5 for single questions, 0.1 for tables.",
    )
    replay: int = replay_option("answers")

    def __post_init__(self) -> None:
        settle(self)
        if self.questions == "tables" and self.variant == "theorem":
            raise BadParameter("questions", "the theorem variant asks single questions; use 'members'.")

    def check(self, domain: Domain, unit: Unit) -> None:
        for query in self.queries:
            query.check(domain)
        self._check_universe(domain)
        candidates = self._distinguisher(domain)
        if isinstance(candidates, WorstMember) and candidates.log_size(domain) > math.log(checks.MOST_LISTED):
            raise Refused(
                f"These classes hold over {amount(checks.MOST_LISTED)} questions, too many for '{self.name}' to score "
                "one by one; choose fewer columns or a lower order, or use 'tree'."
            )
        if self.variant == "theorem" and (steps := self._steps(domain)) > MOST_ROUNDS:
            works = math.ceil(1000 * self.accuracy * math.sqrt(steps / MOST_ROUNDS)) / 1000
            raise BadParameter(
                "accuracy", f"needs {amount(math.ceil(steps))} rounds; use {works:g} or more, or the tuned variant."
            )

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        return self._schedule(domain, unit).cost

    def expected(self, domain: Domain, unit: Unit) -> Expected:
        schedule = self._schedule(domain, unit)
        level, numbers = self._level(schedule, domain, unit), schedule.rounds
        if self._asks_tables(domain):
            numbers *= domain.cells(self._largest(domain))
        return Expected(
            mean=level.mean_error,
            worst=level.tail(0.05 / numbers),
            about="The noise of each count that is measured, beside the error of those that never are",
        )

    def promise(self, domain: Domain, unit: Unit, rows: int) -> float | None:
        """The theorem's, for its own variant; it takes the number of rows as known."""
        log_queries = log_size_of(self.queries, domain)
        halves = self.selection in (0.0, 0.5)
        if self.variant != "theorem" or not halves or not unit.public_rows or math.isinf(log_queries):
            return None
        bound = IterativeBound(
            update=self._update_bound(domain),
            distinguisher=ExponentialDistinguisher(log_queries=log_queries),
            delta=float(self.budget.delta),
        )
        return promised_at(self.accuracy, bound, self.budget, unit, rows)

    def seconds(self, domain: Domain, unit: Unit) -> float:
        """Measured: an answer is applied in a pass over the universe, slower the more axes it has."""
        tables, asks = wanted(self.queries, domain), self._asks_tables(domain)
        rounds = self._rounds(domain, asks)
        opened = len(self._opening(domain, unit, asks)) if asks else 0
        known = opened + min(rounds / 2, len(tables) if asks else rounds)
        applied = rounds * (1 + (0 if self.variant == "theorem" else self.replay) * known)
        scored = rounds * (2e-5 * len(tables) + 4e-8 * sum(domain.cells(columns) for columns in tables))
        return TABLE * len(tables) + applied * (1e-5 * (1 + len(domain)) + 4e-9 * domain.cells()) + scored

    def run(self, kernel: Kernel, progress: Progress = silent) -> Any:
        domain, unit = kernel.domain, kernel.unit
        self.check(domain, unit)
        schedule = self._schedule(domain, unit)
        theorem = self.variant == "theorem"
        return construct(
            kernel,
            update=self._update(domain, kernel.generator()),
            distinguisher=self._distinguisher(domain, self._level(schedule, domain, unit).mean_error),
            schedule=schedule,
            stop=self.accuracy if theorem else None,
            replay=0 if theorem else self.replay,
            slack=0.0 if theorem else SLACK,
            progress=progress,
        )

    def _update(self, domain: Domain, generator: np.random.Generator) -> Update[Any]:
        """How the hypothesis learns; `generator` is public randomness."""
        raise NotImplementedError

    def _steps(self, domain: Domain) -> float:
        """T(alpha/2), the rounds of the theorem variant."""
        raise NotImplementedError

    def _update_bound(self, domain: Domain) -> UpdateBound:
        """How many updates the theorem grants the rule."""
        raise NotImplementedError

    def _check_universe(self, domain: Domain) -> None:
        if domain.cells() > MOST_CELLS:
            raise Refused(
                f"The schema has {amount(domain.cells())} combinations and '{self.name}' holds at most "
                f"{amount(MOST_CELLS)}; choose fewer columns or coarser bins, or use 'tree'."
            )

    def _asks_tables(self, domain: Domain) -> bool:
        """Whether whole tables are asked: by default where several tables hold no more cells than questions."""
        if self.variant == "theorem" or self.questions == "members":
            return False
        if self.questions == "tables":
            return True
        tables = wanted(self.queries, domain)
        cells = sum(domain.cells(columns) for columns in tables)
        return len(tables) > 1 and math.log(cells) <= log_size_of(self.queries, domain) + 1e-9

    def _distinguisher(self, domain: Domain, error: float = 0.0) -> Distinguisher:
        if self._asks_tables(domain):
            return WorstTable(tuple(wanted(self.queries, domain).items()), error)
        only = self.queries[0] if len(self.queries) == 1 else None
        return WorstInterval(only) if isinstance(only, Intervals) else WorstMember(self.queries)

    def _largest(self, domain: Domain) -> Columns:
        """The largest table of the classes."""
        return max(wanted(self.queries, domain), key=domain.cells)

    def _level(self, schedule: Schedule, domain: Domain, unit: Unit) -> NoiseLevel:
        """How large the noise of each measured count is, in rows."""
        if self._asks_tables(domain):
            return Portion(self._largest(domain), schedule.asking).level(unit)
        return count_level(schedule.asking, unit)

    def _schedule(self, domain: Domain, unit: Unit) -> Schedule:
        tables = self._asks_tables(domain)
        return lay_out(
            self.budget,
            rounds=self._rounds(domain, tables),
            selection=self.selection or (0.1 if tables else 0.5),
            opening=self._opening(domain, unit, tables),
        )

    def _rounds(self, domain: Domain, tables: bool) -> int:
        if self.variant == "theorem":
            return max(1, math.ceil(self._steps(domain)))
        if self.rounds:
            return self.rounds
        return (
            tables_to_ask(wanted(self.queries, domain), self.budget)
            if tables
            else questions_to_ask(log_size_of(self.queries, domain), self.budget)
        )

    def _opening(self, domain: Domain, unit: Unit, tables: bool) -> dict[Columns, float]:
        """Shares of the budget for what is measured before the first choice."""
        if not tables:
            return {} if unit.public_rows else {(): TOTAL_SHARE}
        sets = wanted(self.queries, domain)
        power = 1 / 2 if self.budget.pure else 2 / 3
        sizes = {(name,): domain[name].size ** power for name in domain.names if any(name in key for key in sets)}
        return {columns: FIRST_SHARE * size / sum(sizes.values()) for columns, size in sizes.items()}


def tables_to_ask(sets: Iterable[Columns], budget: Budget) -> int:
    """Rounds of whole tables: three for every column with pairs, two with triples, more where the budget is large.

    Measured on seven census columns with delta 1e-9: of 4, 8, 14, 21 and 40 rounds the best for 21 pairs are 14, 21 and
    21 at epsilon 0.1, 1 and 10; of 7, 14, 21 and 35 the best for 35 triples are 7 and 14 at epsilon 0.1 and 1.
    """
    listed = list(sets)
    columns = len({name for key in listed for name in key})
    most = max(len(key) for key in listed)
    return max(1, min(len(listed), round(6 * columns / max(most, 1) * float(budget.epsilon) ** 0.25)))


def questions_to_ask(log_size: float, budget: Budget) -> int:
    """Rounds of single questions: noise grows with the rounds under pure epsilon, with their root otherwise."""
    usual = (20 if budget.pure else 50) * math.sqrt(float(budget.epsilon))
    return round(min(max(usual, 5.0), 100.0, max(1.0, math.exp(min(log_size, 20.0)))))
