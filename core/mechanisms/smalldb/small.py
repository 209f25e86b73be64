"""What the two SmallDB mechanisms share: options, the public rules behind them, and the run; `choice.py` chooses."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Protocol

from core.base.errors import BadParameter, Refused
from core.base.options import option
from core.base.wording import amount
from core.kernel.kernel import Kernel
from core.mechanisms.kit.protocol import Expected, Progress, silent
from core.mechanisms.kit.settings import random_databases_option, settle, size_accuracy_option
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
from core.mechanisms.smalldb.path_choice import USUAL_PATH_ROWS, PathChoice, ordered_column
from core.models.points import Points
from core.privacy.budget import Budget
from core.privacy.events import Cost
from core.privacy.unit import Unit
from core.queries.kit.protocol import QueryClass
from core.schema.domain import Domain

METHODS = ("auto", "enumerate", "paths", "net", "search")
MOST_ROUNDS = 1_000
AUTO_PIECES = 2**12
"""Pieces of a column up to which databases are counted unasked: a second or two."""


class ChosenDatabase(Protocol):
    """Steps of a mechanism that chooses one of many databases; `_choice` says which are compared, and how."""

    queries: tuple[QueryClass, ...]
    rows: int
    accuracy: float

    @property
    def asked(self) -> bool:
        """Whether a way of comparing was asked for, which is then refused where it cannot be."""
        ...

    def _choice(self, domain: Domain, unit: Unit) -> Choice | PathChoice: ...

    def _enough(self, candidates: SmallDatabases, accuracy: float) -> int:
        """Rows with which some database is within the accuracy on every question."""
        ...

    def check(self, domain: Domain, unit: Unit) -> None:
        self._choice(domain, unit).check(asked=self.asked)

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        return self._choice(domain, unit).cost

    def promise(self, domain: Domain, unit: Unit, rows: int) -> float | None:
        return self._choice(domain, unit).promise(rows)

    def seconds(self, domain: Domain, unit: Unit) -> float:
        return self._choice(domain, unit).seconds()

    def run(self, kernel: Kernel, progress: Progress = silent) -> Points:
        self.check(kernel.domain, kernel.unit)
        return self._choice(kernel.domain, kernel.unit).run(kernel, progress)

    def _rows(self, candidates: SmallDatabases, every: bool) -> int:
        """Rows of each database: as said, as the accuracy needs, or as can be compared."""
        if self.rows:
            return self.rows
        if self.accuracy:
            return affordable(self._enough(candidates, self.accuracy), self.accuracy)
        return listable_rows(candidates) if every else USUAL_ROWS


@dataclass(frozen=True, kw_only=True)
class SmallDatabase(ChosenDatabase):
    """Options and steps of SmallDB; a subclass says how many rows an accuracy needs."""

    name: ClassVar[str]
    exact_total: ClassVar[bool]
    """Whether candidates are scored against the exact private number of rows."""

    queries: tuple[QueryClass, ...]
    budget: Budget
    accuracy: float = size_accuracy_option(
        "Share of the table that the best small database may miss; sets the number of rows. 0 leaves it to them."
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
        help="Compare all databases, count those over one ordered column (paths), take a net of random ones, or "
        "improve one in a search of paid rounds; auto compares or counts all where that is quick.",
    )
    members: int = random_databases_option(5_000, most=MOST_DATABASES, help="Size of the net.")
    rounds: int = option(
        "whole", "Rounds", default=20, low=1, high=MOST_ROUNDS, help="Choices of a search; they share the budget."
    )
    proposals: int = option(
        "whole", "Proposals", default=200, low=1, high=MOST_DATABASES, help="Changed databases in each round."
    )

    def __post_init__(self) -> None:
        settle(self)
        sizes(self.rows, self.accuracy)

    def expected(self, domain: Domain, unit: Unit) -> Expected:
        choice = self._choice(domain, unit)
        if isinstance(choice, PathChoice):
            return choice.expected()
        return choice.expected(
            {
                "enumerate": missed(choice.candidates, choice.rows),
                "net": f"the best of {amount(self.members)} random databases",
                "search": "the best database proposed in the last round",
            }[choice.method]
        )

    @property
    def asked(self) -> bool:
        return self.method != "auto"

    def _choice(self, domain: Domain, unit: Unit) -> Choice | PathChoice:
        counted = self._counted(domain, unit)
        if counted is not None:
            return counted
        candidates = comparable(self.name, self.queries, domain)
        rows = self._rows(candidates, every=self.method == "enumerate")
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

    def _counted(self, domain: Domain, unit: Unit) -> PathChoice | None:
        """All databases over one ordered column by counting, where that is asked for or listing them is too long."""
        query = None if self.exact_total else ordered_column(self.queries)
        if query is None and self.method == "paths":
            raise Refused(f"Paths of '{self.name}' are for the intervals of one column; use a search, or 'smalldb'.")
        if query is None or self.method not in ("auto", "paths"):
            return None
        query.check(domain)
        candidates = SmallDatabases(self.queries, domain)
        rows = self._rows(candidates, every=False) if self.rows or self.accuracy else USUAL_PATH_ROWS
        found = PathChoice(name=self.name, query=query, domain=domain, unit=unit, budget=self.budget, rows=rows)
        if self.method == "paths":
            return found
        asked = self.rows or self.accuracy
        listed = candidates.tabulated and (listable(candidates, rows) if asked else listable(candidates, USUAL_ROWS))
        return None if listed or not found.countable or found.pieces > AUTO_PIECES else found


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
