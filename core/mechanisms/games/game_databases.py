"""The query release game whose moves are databases, for questions that need not be linear (G section 5.3.3)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core.base.arrays import Columns
from core.kernel.databases.mixture_errors import MOST_WEIGHT
from core.kernel.kernel import Kernel
from core.mechanisms.games.game import MOST_ROUNDS, TYPICAL_ROWS
from core.mechanisms.games.players import learned
from core.mechanisms.games.strategies import Strategies
from core.mechanisms.kit.answers import ask
from core.mechanisms.kit.net_checks import check_net
from core.mechanisms.kit.portions import count_level, measure_rows
from core.mechanisms.kit.protocol import Expected, Progress, silent
from core.mechanisms.kit.run_time import TABLE
from core.mechanisms.kit.schedule import Schedule, lay_out
from core.mechanisms.kit.settings import (
    data_rate_option,
    database_rows_option,
    net_option,
    random_databases_option,
    rounds_option,
    settle,
)
from core.models.nets.mixture import DatabaseMixture
from core.models.nets.public_net import USUAL_ROWS, PublicNet, most_rows, multisets, rounded_to
from core.privacy.budget import Budget
from core.privacy.events import Cost
from core.privacy.spendable import mixed_rho_for
from core.privacy.unit import Unit
from core.queries.kit.protocol import QueryClass
from core.queries.kit.question import log_size_of
from core.schema.domain import Domain

TOTAL_SHARE = 0.05
"""Part of the budget for the number of rows, where that is private."""
MOST_MEMBERS = 10_000
"""Databases in a net."""
MOST_ANSWERS = 2**22
"""Databases times questions, all of which are looked at in every round: 32 MB."""
FINE = 0.1
"""All databases are taken by default where one of them is as near as this to any table, as a share of the rows."""
MOST_DEFAULT = 200
"""Rounds chosen by default at most."""


@dataclass(frozen=True, kw_only=True)
class GameDatabases:
    """A data player learns which databases are right about each question that a query player finds; all its mixtures
    are averaged.

    The data player plays a database y of a public net, the query player a question f; the data player pays
    |f(x) - f(y)|, x being the private table. Nothing in that needs sums over the rows. The query player answers the
    data player's distribution with the question that costs most on average, as the exponential mechanism finds it; the
    data player cannot know what a database costs without f(x), so that is measured, and weights fall like
    exp(-rate cost) (multiplicative weights).

    **Privacy** each of T rounds chooses by the exponential mechanism, over the scores of
    `kernel/databases/mixture_errors.py`, and measures one number: half of a round's budget each, which is epsilon/T
    with delta = 0 and rho/T with delta > 0. The number of rows, where private, is measured first with a twentieth of
    the budget. The net is public: made without the data.

    **Accuracy** with rate sqrt(8 ln M/T) over M databases every answer is, with probability 1 - beta, within
    n (d + sqrt(ln M/(2T))) + 2 z + (2 limit/epsilon_0) ln(3|Q|T/beta) rows, epsilon_0 being a choice's, z the noise
    that no measurement exceeds, and d how near some database of the net is to any table: with all databases of m rows
    over C cells d = C/(4m), because a table rounded to multiples of n/m moves no more rows than that; plus 3 times the
    error of the number of rows. Proof: on average over the rounds the mixtures cost at most what they cost the question
    chosen there and what that falls short; measuring is off by z; the data player pays at most its regret more than the
    nearest database, which pays d and again z.

    **Runtime** O(M |Q|) per round.

    Theorem: G section 5.3.3, the game whose strategies are databases; regret as in Freund and Schapire 1999.
    """

    name: ClassVar[str] = "game-databases"
    title: ClassVar[str] = "Game: the data player learns which databases are right"
    known_as: ClassVar[tuple[str, ...]] = ("query release game over databases", "multiplicative weights")
    prefer: ClassVar[str] = "Choose it for questions that are not linear, or to see the game over whole databases."
    for_study: ClassVar[bool] = True

    queries: tuple[QueryClass, ...]
    budget: Budget
    rounds: int = rounds_option(
        "Turns of the game; 0 lets the budget and the sizes decide, for a table of about 10,000 rows.",
        most=MOST_ROUNDS,
    )
    rate: float = data_rate_option(20.0)
    """0 takes sqrt(8 ln M/T). Of 0.5 to 50 those from 10 on measured best (24 cells, 10,000 rows, epsilon .1 and 1)."""
    net: str = net_option("All databases of so many rows, or random ones; auto takes all where they are fine enough.")
    size: int = database_rows_option(
        "0 takes as many as can be listed for all databases, and 64 for random ones.", most=10_000
    )
    members: int = random_databases_option(1_000, most=MOST_MEMBERS, help="Size of a random net.")

    def __post_init__(self) -> None:
        settle(self)

    def check(self, domain: Domain, unit: Unit) -> None:
        for query in self.queries:
            query.check(domain)
        check_net(
            self.databases(domain),
            self.queries,
            domain,
            self.name,
            members=MOST_MEMBERS,
            answers=MOST_ANSWERS,
            instead="a smaller size or a random net",
        )

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        return self.schedule(domain, unit).cost

    def expected(self, domain: Domain, unit: Unit) -> Expected:
        schedule = self.schedule(domain, unit)
        level = count_level(schedule.asking, unit)
        about = "The noise of each answer that is measured, beside what the rounds leave unlearned"
        return Expected(mean=level.mean_error, worst=level.tail(0.05 / schedule.rounds), about=about)

    def promise(self, domain: Domain, unit: Unit, rows: int) -> float | None:
        """At the rate that the proof takes, over all databases of a size."""
        net, schedule = self.databases(domain), self.schedule(domain, unit)
        if self.rate or not net.complete:
            return None
        learned_late = math.sqrt(math.log(net.count) / (2 * schedule.rounds))
        near = rounded_to(domain.cells(), net.rows) + learned_late + 2 * net.count / MOST_WEIGHT
        each = 0.05 / (3 * schedule.rounds)
        noise = 2 * count_level(schedule.asking, unit).tail(each)
        missed = (
            2 * unit.limit / float(schedule.choosing.epsilon) * (log_size_of(self.queries, domain) - math.log(each))
        )
        counted = sum(3 * portion.level(unit).tail(0.05 / 3) for portion in schedule.opening)
        # Public answers are rounded to whole numbers where they are compared.
        error = near * rows + noise + missed + counted + 1
        return error if error < rows else None

    def seconds(self, domain: Domain, unit: Unit) -> float:
        """Measured: every database answers every question once, and is compared with the table in every round."""
        answers = self.databases(domain).count * math.exp(min(log_size_of(self.queries, domain), 18))
        return 2 * TABLE + 2e-7 * answers + self.schedule(domain, unit).rounds * (8e-4 + 1e-8 * answers)

    def run(self, kernel: Kernel, progress: Progress = silent) -> DatabaseMixture:
        domain, unit = kernel.domain, kernel.unit
        self.check(domain, unit)
        schedule = self.schedule(domain, unit)
        progress("Counting rows", 0.0)
        opening = schedule.opening[0].event if schedule.opening else None
        rows = float(measure_rows(kernel, opening))
        strategies = Strategies(self.queries, domain, self.databases(domain).listed(kernel.generator()), rows)
        rate = self.rate or math.sqrt(8 * math.log(len(strategies)) / schedule.rounds)
        paid, played = np.zeros(len(strategies)), np.zeros(len(strategies))
        for turn in range(schedule.rounds):
            progress("Playing", turn / schedule.rounds)
            mixture = learned(paid, rate)
            played += mixture
            place = kernel.choose(strategies.errors(mixture), schedule.choosing)
            answer = ask(kernel, strategies.question(place), schedule.asking)
            paid += strategies.costs(place, float(answer.value))
        return DatabaseMixture(domain, strategies.members, played / schedule.rounds, rows)

    def databases(self, domain: Domain) -> PublicNet:
        """The moves of the data player."""
        cells = domain.cells()
        largest = self.size or most_rows(cells, MOST_MEMBERS)
        fine = multisets(cells, largest) <= MOST_MEMBERS and rounded_to(cells, largest) <= FINE
        if self.net == "all" or (self.net == "auto" and fine):
            return PublicNet(cells, largest)
        return PublicNet(cells, self.size or USUAL_ROWS, self.members)

    def schedule(self, domain: Domain, unit: Unit) -> Schedule:
        opening: dict[Columns, float] = {} if unit.public_rows else {(): TOTAL_SHARE}
        return lay_out(self.budget, rounds=self._turns(domain, unit), selection=0.5, opening=opening)

    def _turns(self, domain: Domain, unit: Unit) -> int:
        """Where what is learnt too late and the noise, which grows like T or its root, have the smallest sum."""
        if self.rounds:
            return self.rounds
        rows = TYPICAL_ROWS / unit.limit
        late = math.sqrt(math.log(self.databases(domain).count) / 2)
        missed = 2 + log_size_of(self.queries, domain)
        if self.budget.pure:
            best = (late * float(self.budget.epsilon) * rows / (8 * missed)) ** (2 / 3)
        else:
            best = late * math.sqrt(float(mixed_rho_for(self.budget))) * rows / missed
        return max(4, min(MOST_DEFAULT, round(best)))
