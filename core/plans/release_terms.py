"""What was chosen for a release: the words from which it is priced, paid for, run, saved and made again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from core.base.errors import BadParameter
from core.base.limits import whole
from core.mechanisms.kit.protocol import Mechanism
from core.plans.canonical import KeptText, read_budget, read_names, read_options, read_parts, read_text, spell
from core.privacy.budget import Budget, exact
from core.queries.kit.protocol import QueryClass
from core.registry import mechanism_from, query_from_json, query_to_json

MOST_QUERIES = 1_000
PARTS = frozenset({"table", "queries", "mechanism", "budget", "options", "records", "edition"})
OPTIONAL = frozenset({"measure", "copies"})
"""Parts that are written only where they are not 0: plans without them keep the text and the id they always had."""
LEAST_MEASURE, MOST_MEASURE = Fraction(1, 100), Fraction(1, 20)
MOST_COPIES = 20
"""Synthetic copies of a release: twice as many would make intervals 4 % shorter."""


@dataclass(frozen=True, kw_only=True)
class ReleaseTerms(KeptText):
    """Everything that was chosen, and nothing that follows from it; `from_json` reads back what `to_json` writes."""

    table: str | None = None
    """None where the choice is for any table with these columns."""
    queries: tuple[QueryClass, ...]
    mechanism: str
    budget: Budget
    options: Mapping[str, Any] = field(default_factory=dict)
    records: int | None = None
    """Synthetic records to draw; None draws about as many as the table has, as the release itself estimates it."""
    edition: int = 1
    """Which of several releases of the same choice, each paid for."""
    measure: Fraction = Fraction(0)
    """The part of the budget that measures the finished release against the table; the mechanism gets the rest."""
    copies: int = 0
    """Synthetic copies, from which estimates have intervals; they cost nothing (`redrawing.py`)."""

    def to_json(self) -> dict[str, Any]:
        measured = {"measure": str(part)} if (part := exact(self.measure, "measure")) else {}
        copied = {"copies": self.copies} if self.copies != 0 else {}
        return {
            "table": self.table,
            "queries": [query_to_json(query) for query in self.queries],
            "mechanism": self.mechanism,
            "budget": self.budget.to_json(),
            "options": dict(self.options),
            "records": self.records,
            "edition": self.edition,
            **measured,
            **copied,
        }

    @classmethod
    def from_json(cls, data: object) -> ReleaseTerms:
        """Terms that may come from anywhere; whether they can be carried out is for `build` and the table to say."""
        parts = read_parts(data, PARTS, OPTIONAL)
        return ReleaseTerms(
            table=None if parts["table"] is None else read_text(parts["table"], "table"),
            queries=_queries(parts["queries"]),
            mechanism=read_text(parts["mechanism"], "mechanism"),
            budget=read_budget(parts["budget"]),
            options=read_options(parts["options"]),
            records=parts["records"],
            edition=parts["edition"],
            measure=read_measure(parts.get("measure", "0")),
            copies=whole(parts.get("copies", 0), "copies", 0, MOST_COPIES),
        )

    @classmethod
    def read(cls, content: str) -> ReleaseTerms:
        return cls.from_json(json.loads(content))

    def write(self) -> str:
        return spell(lambda: ReleaseTerms.to_json(self))

    def build(self) -> Mechanism:
        """The mechanism that was chosen, or a sentence that names what is wrong."""
        return mechanism_from(self.mechanism, self.queries, self.budget, self.options)

    def without_table(self) -> ReleaseTerms:
        """The same choice for any table with these columns."""
        return ReleaseTerms(
            queries=self.queries,
            mechanism=self.mechanism,
            budget=self.budget,
            options=self.options,
            records=self.records,
            measure=self.measure,
            copies=self.copies,
        )


def read_measure(found: object) -> Fraction:
    """A part of a budget for measuring: none, or from 1 to 5 %."""
    part = exact(found, "measure")
    if part and not LEAST_MEASURE <= part <= MOST_MEASURE:
        raise BadParameter("measure", "must be 0, or from 0.01 to 0.05 of the budget.")
    return part


def _queries(found: object) -> tuple[QueryClass, ...]:
    if not isinstance(found, list) or not found or len(found) > MOST_QUERIES:
        raise BadParameter("queries", f"must be a list of 1 to {MOST_QUERIES:,} query classes.")
    return tuple(query_from_json(read_names(query, "queries")) for query in found)
