"""Which k of m public projects to carry out, given what every agent would give for each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core.base import limits
from core.base.errors import BadParameter, printable
from core.base.options import check_options, option
from core.base.wording import amount, figure
from core.decisions.decision import FAILURE, Decided, divided, measured
from core.kernel.decisions.values import VALUE, Gains, Valued, Welfare
from core.kernel.kernel import Kernel
from core.mechanisms.kit.protocol import Progress, silent
from core.privacy.budget import Budget
from core.privacy.events import Cost, Laplace, Selection
from core.privacy.unit import Unit
from core.schema.attributes import Booleans
from core.schema.domain import Domain
from core.table.counts import Counts
from core.theory.decisions.decision_bounds import projects_loss, truthful_gain

GREEDY = 1 - 1 / np.e
ROOTS = 10**6
"""Roots are whole numbers of thousandths. Of parts that grow like a power of i from 0 to 2, the root gave most of
greedy's value at epsilon .1 and 1 together (k = 10 of 50 projects, 5,000 agents)."""


@dataclass(frozen=True, kw_only=True)
class PublicProjects:
    """Choose one project after the other by what it adds to what the agents enjoy.

    **Privacy** k choices by the exponential mechanism, to whose scores an agent adds at most 1; their epsilons add up
    to that of the budget, or with a delta to what an account would pay, which for many projects is more. The i-th gets
    a part that grows like the root of i: projects are the more alike the more were chosen.

    **Accuracy** (1 - 1/e) OPT - unit.l1 ln(m k/beta) times the sum of 1/epsilon' over all choices, with probability
    1 - beta.

    **Truthfulness** nobody gains more than 2 epsilon + delta of a whole value by a lie (for epsilon at most 1).

    **Runtime** O(k m different agents).

    Theorem: T theorem 63 and 7.8.3, algorithm 7 with the rule epsilon/k of the remark after theorem 64.
    """

    name: ClassVar[str] = "projects"
    problem: ClassVar[str] = "public-projects"
    title: ClassVar[str] = "Projects chosen one by one"
    known_as: ClassVar[tuple[str, ...]] = (
        "combinatorial public projects",
        "private submodular maximisation",
        "k-coverage",
    )
    prefer: ClassVar[str] = "Choose it to pick a few of many projects by what everybody would like."
    for_study: ClassVar[bool] = False

    budget: Budget
    columns: tuple[str, ...] = option(
        "columns",
        "Columns of the projects",
        low=2,
        only="valued",
        help="One column per project: yes or no, or numbers from no value to the full one. Of several projects a "
        "person enjoys the best.",
    )
    k: int = option("whole", "Projects to carry out", default=1, low=1, within="columns")

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", limits.names(self.columns))
        check_options(self)

    def check(self, domain: Domain, unit: Unit) -> None:
        self._valued(domain)
        if self.k >= len(self.columns):
            raise BadParameter("k", f"must be below the number of projects, which is {amount(len(self.columns))}.")

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        choosing, estimating = self.events()
        return Cost.of([*choosing, estimating])

    def guarantee(self, domain: Domain, unit: Unit) -> str:
        rates = [float(each.epsilon) / unit.l1 for each in self.events()[0]]
        loss = projects_loss(rates, len(self.columns), FAILURE)
        gain = truthful_gain(float(self.budget.epsilon), float(self.budget.delta))
        truth = f"; nobody gains more than {gain:.3g} of a whole value by a lie" if gain < 1 else ""
        return (
            f"At least {GREEDY:.3f} times the best total minus {figure(loss)} whole values, "
            f"{100 * (1 - FAILURE):.0f} % of the time{truth}."
        )

    def run(self, kernel: Kernel, progress: Progress = silent) -> Decided:
        self.check(kernel.domain, kernel.unit)
        valued, (choosing, estimating) = self._valued(kernel.domain), self.events()
        chosen = list[int]()
        for step, event in enumerate(choosing):
            left = [place for place in range(len(self.columns)) if place not in chosen]
            chosen.append(left[kernel.choose(Gains(valued, tuple(chosen)), event)])
            progress("Choosing projects", (step + 1) / self.k)
        return self._carried_out(kernel, tuple(chosen), estimating)

    def events(self) -> tuple[tuple[Selection, ...], Laplace]:
        """What each choice is paid with, and the estimate."""
        return divided(self.budget, tuple(math.isqrt(ROOTS * place) for place in range(1, self.k + 1)))

    def _carried_out(self, kernel: Kernel, chosen: tuple[int, ...], event: Laplace) -> Decided:
        """The chosen projects, and what they are worth to all agents, measured."""
        asked = Welfare(self._valued(kernel.domain), chosen)
        worth = measured(kernel, asked, event, "Whole values enjoyed", 1 / VALUE)
        names = [self.columns[place] for place in chosen]
        return Decided(
            sentence=f"Carry out {', '.join(names)}.",
            lines=tuple(
                {"project": name, "chosen": names.index(name) + 1 if name in names else 0} for name in self.columns
            ),
            facts={"chosen": names},
            estimate=worth,
        )

    def value(self, decided: Decided, counts: Counts) -> float:
        """Whole values that all agents enjoy together."""
        places = [self.columns.index(name) for name in decided.facts["chosen"]]
        _, held, often = self._valued(counts.domain).best(counts, places)
        return float(often @ held) / VALUE

    def best(self, counts: Counts) -> float:
        """Greedy, within 1 - 1/e of the best."""
        valued, chosen = self._valued(counts.domain), list[int]()
        for _ in range(self.k):
            values, held, often = valued.best(counts, chosen)
            chosen.append(int(np.argmax(often @ np.maximum(values - held[:, None], 0))))
        _, held, often = valued.best(counts, chosen)
        return float(often @ held) / VALUE

    def _valued(self, domain: Domain) -> Valued:
        for name in self.columns:
            if not (domain[name].numeric or isinstance(domain[name], Booleans)):
                raise BadParameter("columns", f"'{printable(name)}' is neither yes or no nor numbers.")
        return Valued(self.columns, tuple(domain[name].regular for name in self.columns))
