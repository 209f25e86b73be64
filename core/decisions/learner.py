"""The best rule of a class for a yes/no column: a private learner."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core.base import limits
from core.base.errors import BadParameter, printable
from core.base.options import check_options, option
from core.base.wording import figure
from core.decisions.decision import FAILURE, Decided, choices, measured
from core.kernel.decisions.rules import Mistakes, RuleMistakes, mistakes
from core.kernel.kernel import Kernel
from core.mechanisms.kit.protocol import Progress, silent
from core.privacy.budget import Budget
from core.privacy.events import Cost
from core.privacy.unit import Unit
from core.queries.conjunctions import Conjunctions
from core.queries.halfspaces import Halfspaces
from core.queries.kit.protocol import QueryClass, words_of
from core.queries.rectangles import Rectangles
from core.schema.domain import Domain
from core.table.counts import Counts
from core.theory.decisions.decision_bounds import learner_loss

CLASSES = ("conjunctions", "rectangles", "halfspaces")
MOST_RULES = 2**20
EVERY = "every row"
"""Of a rule without a condition."""


@dataclass(frozen=True, kw_only=True)
class BestRule:
    """Choose the rule of a class, or its opposite, that gets the fewest rows wrong, by one private choice.

    **Privacy** one exponential mechanism; a row adds at most 1 to the mistakes of a rule: epsilon-differentially
    private.

    **Accuracy** at most (unit.l1/epsilon) ln(|C|/beta) more mistakes than the best rule, C the rules and their
    opposites, with probability 1 - beta.

    **Runtime** that of counting the class twice.

    Theorem: G 5.3.2 read as a learner: positives against negatives; Kasiviswanathan et al. 2011.
    """

    name: ClassVar[str] = "learner"
    problem: ClassVar[str] = "rule"
    title: ClassVar[str] = "The best rule of a class"
    known_as: ClassVar[tuple[str, ...]] = ("private agnostic learning", "exponential mechanism", "distinguisher")
    prefer: ClassVar[str] = "Choose it to say by one simple rule who has a yes in a column."
    for_study: ClassVar[bool] = False

    budget: Budget
    label: str = option("column", "Column to explain", only="binary", help="Yes or no.")
    columns: tuple[str, ...] = option("columns", "Columns that the rule may use", low=1, start=1)
    rules: str = option("choice", "Kind of rule", default=CLASSES[0], choices=CLASSES)
    order: int = option("whole", "Facts of a conjunction", default=2, low=1, high=4, within="columns")

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", limits.names(self.columns))
        check_options(self)

    def check(self, domain: Domain, unit: Unit) -> None:
        self._codes(domain)
        if self.label in self.columns:
            raise BadParameter("columns", "must not have the column that is to be explained.")
        self._class().check(self._features(domain))
        if self._log_rules(domain) > math.log(MOST_RULES):
            raise BadParameter("columns", f"give more than {MOST_RULES:,} rules; name fewer, or coarser ones.")

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        return Cost.of(choices(self.budget, 1))

    def guarantee(self, domain: Domain, unit: Unit) -> str:
        each = float(choices(self.budget, 1)[0].epsilon)
        loss = learner_loss(unit.l1, each, self._log_rules(domain), FAILURE)
        return f"At most {figure(loss)} more rows wrong than by the best rule, {100 * (1 - FAILURE):.0f} % of the time."

    def run(self, kernel: Kernel, progress: Progress = silent) -> Decided:
        self.check(kernel.domain, kernel.unit)
        choosing, estimating = choices(self.budget, 1)
        progress("Choosing a rule", 0.1)
        asked = self._mistakes(kernel.domain)
        chosen = kernel.choose(asked, choosing)
        estimate = measured(kernel, RuleMistakes(asked, chosen), estimating, "Rows wrong", 1 / asked.denominator)
        index, opposite = self._placed(chosen, kernel.domain)
        words = self._words(index, kernel.domain)
        return Decided(
            sentence=f"'{self.label}' is {'no' if opposite else 'yes'} {'in' if words == EVERY else 'where'} {words}.",
            lines=({"rule": words, "says": "no" if opposite else "yes"},),
            facts={"place": chosen, "rules": self.rules, "columns": list(self.columns), "label": self.label},
            estimate=estimate,
        )

    def value(self, decided: Decided, counts: Counts) -> float:
        """Rows that the rule gets wrong."""
        asked = self._mistakes(counts.domain)
        return float(mistakes(asked, counts)[decided.facts["place"]]) / asked.denominator

    def best(self, counts: Counts) -> float:
        asked = self._mistakes(counts.domain)
        return float(mistakes(asked, counts).min()) / asked.denominator

    def _mistakes(self, domain: Domain) -> Mistakes:
        query = self._class()
        return Mistakes(query, self.label, self._codes(domain), query.denominator(self._features(domain)))

    def _class(self) -> QueryClass:
        if self.rules == "conjunctions":
            return Conjunctions(order=min(self.order, len(self.columns)), columns=self.columns)
        return (Rectangles if self.rules == "rectangles" else Halfspaces)(columns=self.columns)

    def _features(self, domain: Domain) -> Domain:
        return domain.project([name for name in domain.names if name != self.label])

    def _codes(self, domain: Domain) -> tuple[int, int]:
        if domain[self.label].regular != 2:
            raise BadParameter("label", f"'{printable(self.label)}' must have two values, no and yes.")
        return 0, 1

    def _log_rules(self, domain: Domain) -> float:
        return float(self._class().log_size(self._features(domain))) + math.log(2)

    def _placed(self, chosen: int, domain: Domain) -> tuple[int, bool]:
        size = int(np.rint(math.exp(self._log_rules(domain)))) // 2
        return chosen % size, chosen >= size

    def _words(self, index: int, domain: Domain) -> str:
        words = words_of(self._class(), self._features(domain), index)
        return EVERY if words == "share of all rows" else words.removeprefix("share of rows with ")
