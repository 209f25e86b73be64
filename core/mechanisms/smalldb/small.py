"""What the two SmallDB mechanisms share: options, the public rules behind them, and the run; `choice.py` chooses."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from core.base.errors import BadParameter
from core.base.options import check_options, option
from core.base.wording import amount
from core.kernel.kernel import Kernel
from core.mechanisms.kit.protocol import Expected, Progress, silent
from core.mechanisms.smalldb.candidates import SmallDatabases
from core.mechanisms.smalldb.choice import (
    MOST_DATABASES,
    MOST_ROWS,
    USUAL_ROWS,
    Choice,
    comparable,
    listable,
    listable_rows,
    missed,
)
from core.models.points import Points
from core.privacy.budget import Budget
from core.privacy.events import Cost
from core.privacy.unit import Unit
from core.queries.kit.protocol import QueryClass
from core.schema.domain import Domain

METHODS = ("auto", "enumerate", "net", "search")
MOST_ROUNDS = 1_000


@dataclass(frozen=True, kw_only=True)
class SmallDatabase:
    """Options and steps of SmallDB; a subclass says how many rows an accuracy needs."""

    name: ClassVar[str]
    exact_total: ClassVar[bool]
    """Whether candidates are scored against the exact private number of rows."""

    queries: tuple[QueryClass, ...]
    budget: Budget
    accuracy: float = option(
        "real",
        "Accuracy",
        default=0.0,
        low=0.0,
        below=1.0,
        help="Share of the table that the best small database may miss; sets the number of rows. 0 leaves it to them.",
    )
    rows: int = option(
        "whole",
        "Rows of the database",
        default=0,
        low=0,
        high=MOST_ROWS,
        help="0 takes what the accuracy needs, or a number that can be searched.",
    )
    method: str = option(
        "choice",
        "Method",
        default="auto",
        choices=METHODS,
        help="Compare all databases, a net of random ones, or improve one in a search of paid rounds; "
        "auto compares all where that is possible.",
    )
    members: int = option(
        "whole", "Random databases", default=5_000, low=2, high=MOST_DATABASES, help="Size of the net."
    )
    rounds: int = option(
        "whole", "Rounds", default=20, low=1, high=MOST_ROUNDS, help="Choices of a search; they share the budget."
    )
    proposals: int = option(
        "whole", "Proposals", default=200, low=1, high=MOST_DATABASES, help="Changed databases in each round."
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "queries", tuple(self.queries))
        check_options(self)
        sizes(self.rows, self.accuracy)

    def check(self, domain: Domain, unit: Unit) -> None:
        self._choice(domain, unit).check(asked=self.method != "auto")

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        return self._choice(domain, unit).cost

    def expected(self, domain: Domain, unit: Unit) -> Expected:
        choice = self._choice(domain, unit)
        return choice.expected(
            {
                "enumerate": missed(choice.candidates, choice.rows),
                "net": f"the best of {amount(self.members)} random databases",
                "search": "the best database proposed in the last round",
            }[choice.method]
        )

    def promise(self, domain: Domain, unit: Unit, rows: int) -> float | None:
        return self._choice(domain, unit).promise(rows)

    def seconds(self, domain: Domain, unit: Unit) -> float:
        return self._choice(domain, unit).seconds()

    def run(self, kernel: Kernel, progress: Progress = silent) -> Points:
        self.check(kernel.domain, kernel.unit)
        return self._choice(kernel.domain, kernel.unit).run(kernel, progress)

    def _enough(self, candidates: SmallDatabases, accuracy: float) -> int:
        """Rows with which some database is within the accuracy on every question."""
        raise NotImplementedError

    def _choice(self, domain: Domain, unit: Unit) -> Choice:
        candidates = comparable(self.name, self.queries, domain)
        rows = self._rows(candidates)
        method = self.method
        if method == "auto":
            method = "enumerate" if listable(candidates, rows) else "search"
        return Choice(
            name=self.name,
            queries=self.queries,
            domain=domain,
            unit=unit,
            budget=self.budget,
            rows=rows,
            method=method,
            members=self.members,
            rounds=self.rounds,
            proposals=self.proposals,
            exact_total=self.exact_total,
        )

    def _rows(self, candidates: SmallDatabases) -> int:
        if self.rows:
            return self.rows
        if self.accuracy:
            return affordable(self._enough(candidates, self.accuracy), self.accuracy)
        return listable_rows(candidates) if self.method == "enumerate" else USUAL_ROWS


def sizes(rows: int, accuracy: float) -> None:
    """Refuse a size that is given twice."""
    if rows and accuracy:
        raise BadParameter("rows", "follows from the accuracy; give one of the two and leave the other at 0.")


def affordable(rows: int, accuracy: float) -> int:
    """So many rows, unless they are too many; every lemma's number falls at least as the square of the accuracy."""
    if rows > MOST_ROWS:
        works = math.ceil(1000 * accuracy * math.sqrt(rows / MOST_ROWS)) / 1000
        advice = f"use {works:g} or more" if works < 1 else "give a number of rows instead"
        raise BadParameter("accuracy", f"needs a database of {amount(rows)} rows; {advice}.")
    return rows
