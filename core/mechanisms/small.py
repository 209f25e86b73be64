"""What the two SmallDB mechanisms share: options, the public rules behind them, and the run; `choice.py` chooses."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from core.counts import Counts
from core.domain import Domain
from core.errors import BadParameter
from core.mechanisms.candidates import Candidates
from core.mechanisms.choice import MOST_DATABASES, MOST_ROWS, USUAL_ROWS, Choice, listable, listable_rows, missed
from core.mechanisms.protocol import Expected, Progress, silent
from core.models.points import Points
from core.noise import NoiseSource
from core.privacy import Budget, Cost, Unit
from core.queries import checks
from core.queries.protocol import QueryClass
from core.wording import amount


@dataclass(frozen=True, kw_only=True)
class SmallDatabase:
    """Options and steps of SmallDB; a subclass says how many rows an accuracy needs."""

    name: ClassVar[str]
    exact_total: ClassVar[bool]
    """Whether candidates are scored against the exact private number of rows."""

    queries: tuple[QueryClass, ...]
    budget: Budget
    accuracy: float = 0.0
    """Share of the table that the best small database may miss: sets the number of rows; 0 leaves that to `rows`."""
    rows: int = 0
    """Rows of the small database; 0 takes what the accuracy needs, or a number that can be searched."""
    method: str = "auto"
    """'enumerate' compares all databases, 'net' random ones, 'search' improves one in paid rounds; 'auto' enumerates
    where that is possible and searches otherwise."""
    members: int = 5_000
    """Random databases of method 'net'."""
    rounds: int = 20
    """Choices of method 'search', each for an equal part of the budget."""
    proposals: int = 200
    """Changed databases between which each choice of method 'search' is made."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "queries", tuple(self.queries))
        checks.choice(self.method, "method", ("auto", "enumerate", "net", "search"))
        checks.whole(self.members, "members", 2, MOST_DATABASES)
        checks.whole(self.rounds, "rounds", 1, 1_000)
        checks.whole(self.proposals, "proposals", 1, 1_000_000)
        sizes(self.rows, self.accuracy)

    def check(self, domain: Domain, unit: Unit) -> None:
        self._choice(domain, unit).check()

    def cost(self, domain: Domain, unit: Unit) -> Cost:
        return self._choice(domain, unit).cost

    def expected(self, domain: Domain, unit: Unit) -> Expected:
        choice = self._choice(domain, unit)
        return choice.expected({
            "enumerate": missed(choice.candidates, choice.rows),
            "net": f"the best of {amount(self.members)} random databases",
            "search": "the best database proposed in the last round",
        }[choice.method])

    def run(self, counts: Counts, noise: NoiseSource, progress: Progress = silent) -> Points:
        return self._choice(counts.domain, counts.unit).run(counts, noise, progress)

    def _enough(self, candidates: Candidates, accuracy: float) -> int:
        """Rows with which some database is within the accuracy on every question."""
        raise NotImplementedError

    def _choice(self, domain: Domain, unit: Unit) -> Choice:
        for query in self.queries:
            query.check(domain)
        candidates = Candidates(self.queries, domain)
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

    def _rows(self, candidates: Candidates) -> int:
        if self.rows:
            return self.rows
        if self.accuracy:
            return affordable(self._enough(candidates, self.accuracy), self.accuracy)
        return listable_rows(candidates) if self.method == "enumerate" else USUAL_ROWS


def sizes(rows: int, accuracy: float) -> None:
    """Refuse a size that is neither left out nor possible."""
    checks.whole(rows, "rows", 0, MOST_ROWS)
    if isinstance(accuracy, bool) or not isinstance(accuracy, int | float) or not 0 <= accuracy < 1:
        raise BadParameter("accuracy", "must be above 0 and below 1, or 0 to leave it out; try 0.2.")
    if rows and accuracy:
        raise BadParameter("rows", "follows from the accuracy; give one of the two and leave the other at 0.")


def affordable(rows: int, accuracy: float) -> int:
    """So many rows, unless they are too many; every lemma's number falls at least as the square of the accuracy."""
    if rows > MOST_ROWS:
        works = math.ceil(1000 * accuracy * math.sqrt(rows / MOST_ROWS)) / 1000
        advice = f"use {works:g} or more" if works < 1 else "give a number of rows instead"
        raise BadParameter("accuracy", f"needs a database of {amount(rows)} rows; {advice}.")
    return rows
