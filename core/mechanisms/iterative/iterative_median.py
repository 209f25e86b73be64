"""Iterative construction with the median of a net (G algorithms 8 and 9)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from core.base.errors import BadParameter
from core.base.options import fixed
from core.mechanisms.iterative.distinguish import Distinguisher, WorstMember
from core.mechanisms.iterative.iterative import Iterative
from core.mechanisms.kit.net_checks import check_net
from core.mechanisms.kit.run_time import TABLE
from core.mechanisms.kit.settings import database_rows_option, net_option, random_databases_option
from core.models.fitting.updates import Update
from core.models.nets.median import Halving
from core.models.nets.public_net import USUAL_ROWS, PublicNet, rows_for
from core.privacy.unit import Unit
from core.queries.kit.focus import asked_tables
from core.queries.kit.question import log_size_of
from core.schema.domain import Domain
from core.theory.iterative import Median

MOST_MEMBERS = 100_000
"""Databases in a net."""
MOST_ANSWERS = 2**26
"""Databases times questions, all of which are looked at in every round: half a gigabyte."""


@dataclass(frozen=True, kw_only=True)
class IterativeMedian(Iterative):
    """Keep a set of possible databases, ask where their median is wrong, and throw away the wrong half.

    **Privacy** as `iterative-weights`: T choices and T measurements. The net is public: made without the data.

    **Accuracy** theorem variant, T = log2 |net| rounds over all databases of m > 2 ln(2|Q|)/alpha^2 rows, which are an
    alpha/2-net: with probability 1 - beta every answer is within alpha n, once
    alpha n >= (8/epsilon_0) max(ln(2T/beta), 2 ln(2T|Q|/beta)). A random net is as good as its nearest member.

    **Runtime** O(|net| x |Q|) per round; the net of all databases has (|X| + m - 1 over m) members.

    Theorem: G theorems 5.8 to 5.10; nothing in it needs linear questions.
    """

    name: ClassVar[str] = "iterative-median"
    title: ClassVar[str] = "Median of possible databases, worst answer first"
    known_as: ClassVar[tuple[str, ...]] = ("median update", "iterative construction")
    prefer: ClassVar[str] = "Choose it for questions that are not linear, or to study the median on a tiny schema."
    for_study: ClassVar[bool] = True

    questions: str = fixed("always single questions: a median has no consistent table", "members")
    replay: int = fixed("always 0: what was thrown away stays away", 0)
    net: str = net_option("All databases of so many rows, or random ones; auto takes all in the theorem variant only.")
    size: int = database_rows_option(
        "0 takes what the accuracy needs for all databases, and 64 for random ones.", most=10_000
    )
    members: int = random_databases_option(1_000, most=MOST_MEMBERS, help="Size of a random net.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.variant == "theorem" and self.net == "random":
            raise BadParameter("net", "a random net carries no theorem; use 'all', or the tuned variant.")

    def promise(self, domain: Domain, unit: Unit, rows: int) -> float | None:
        """As the theorem, for a net that is as fine as the accuracy asks."""
        return None if self.size else super().promise(domain, unit, rows)

    def seconds(self, domain: Domain, unit: Unit) -> float:
        """Measured: every database counts every table and answers every question once, then half of them less in each
        round."""
        tables = sum(len(asked_tables(query, domain)) for query in self.queries)
        answers = math.exp(min(log_size_of(self.queries, domain), 18))
        return 2 * TABLE + self._net(domain).count * (2e-6 * tables + 8e-8 * answers)

    def _check_universe(self, domain: Domain) -> None:
        check_net(
            self._net(domain),
            self.queries,
            domain,
            self.name,
            members=MOST_MEMBERS,
            answers=MOST_ANSWERS,
            instead="a larger accuracy, a smaller size, a random net, or 'iterative-weights'",
        )

    def _all(self) -> bool:
        return self.net == "all" or (self.net == "auto" and self.variant == "theorem")

    def _net(self, domain: Domain) -> PublicNet:
        if not self._all():
            return PublicNet(domain.cells(), self.size or USUAL_ROWS, self.members)
        fine = self.size or rows_for(self.accuracy / 2, log_size_of(self.queries, domain))
        return PublicNet(domain.cells(), fine)

    def _update(self, domain: Domain, generator: np.random.Generator) -> Update[Any]:
        return Halving(self.queries, self._net(domain).listed(generator))

    def _steps(self, domain: Domain) -> float:
        return math.log2(self._net(domain).count)

    def _update_bound(self, domain: Domain) -> Median:
        return Median(log_net=math.log(self._net(domain).count))

    def _distinguisher(self, domain: Domain, error: float = 0.0) -> Distinguisher:
        return WorstMember(self.queries)

    def _rounds(self, domain: Domain, tables: bool) -> int:
        return self.rounds if self.rounds and self.variant == "tuned" else max(1, math.ceil(self._steps(domain)))
