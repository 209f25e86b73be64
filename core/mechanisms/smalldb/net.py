"""The net mechanism (G algorithm 7): the best member of a public net of databases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from core.base.wording import amount
from core.mechanisms.kit.protocol import Expected
from core.mechanisms.kit.settings import (
    database_rows_option,
    net_option,
    random_databases_option,
    settle,
    size_accuracy_option,
)
from core.mechanisms.smalldb.candidates import SmallDatabases
from core.mechanisms.smalldb.choice import MOST_DATABASES, MOST_ROWS, Choice, comparable, listable, missed
from core.mechanisms.smalldb.small import ChosenDatabase, sizes
from core.models.nets.public_net import rows_for
from core.privacy.budget import Budget
from core.privacy.unit import Unit
from core.queries.kit.protocol import QueryClass
from core.schema.domain import Domain


@dataclass(frozen=True, kw_only=True)
class Net(ChosenDatabase):
    """Fix a net of databases without looking at the data, and choose the member whose worst answer is best.

    **Privacy** epsilon-differentially private: one exponential mechanism over the net, score -max |m q(x) - N q(y)| for
    members y of m rows, which a unit moves by at most m unit.limit (times the questions' denominator), drawn exactly.
    N is public or measured with a slice of the budget.

    **Accuracy** with probability 1 - beta every answer is within alpha + 2 (ln|Net| + ln(1/beta))/(epsilon n) of the
    truth as a share of n rows (unit.limit times the second part; a measured N adds its noise), if the net is an
    alpha-net. All databases of m > ln(2|Q|)/(2 alpha^2) rows are one. A random net is as good as its nearest member,
    which nobody can promise beforehand.

    **Runtime** O(|Net| |Q| min(m, |X|)); at most 10^7 members.

    Theorem: G propositions 5.1 and 5.2.
    """

    name: ClassVar[str] = "net"
    title: ClassVar[str] = "Best member of a public net of databases"
    known_as: ClassVar[tuple[str, ...]] = ("net mechanism", "exponential mechanism")
    prefer: ClassVar[str] = "Choose it for one single choice between databases that were fixed beforehand."
    for_study: ClassVar[bool] = True

    queries: tuple[QueryClass, ...]
    budget: Budget
    net: str = net_option("All databases of so many rows, or random ones; auto takes all where they can be listed.")
    accuracy: float = size_accuracy_option(
        "The net of all databases then holds one within this share of any table; 0 leaves the size to the rows."
    )
    rows: int = database_rows_option("0 takes what the accuracy needs, or a usual number.", most=MOST_ROWS)
    members: int = random_databases_option(5_000, most=MOST_DATABASES, help="Size of a random net.")

    def __post_init__(self) -> None:
        settle(self)
        sizes(self.rows, self.accuracy)

    def expected(self, domain: Domain, unit: Unit) -> Expected:
        choice = self._choice(domain, unit)
        if choice.method == "enumerate":
            return choice.expected(missed(choice.candidates, choice.rows))
        return choice.expected(f"the best of {amount(self.members)} random databases")

    @property
    def asked(self) -> bool:
        return self.net != "auto"

    def _choice(self, domain: Domain, unit: Unit) -> Choice:
        candidates = comparable(self.name, self.queries, domain)
        rows = self._rows(candidates, every=self.net == "all")
        every = self.net == "all" or (self.net == "auto" and listable(candidates, rows))
        return Choice(
            name=self.name,
            queries=self.queries,
            domain=domain,
            unit=unit,
            budget=self.budget,
            rows=rows,
            method="enumerate" if every else "net",
            members=self.members,
        )

    def _enough(self, candidates: SmallDatabases, accuracy: float) -> int:
        return rows_for(accuracy, candidates.log_questions)
