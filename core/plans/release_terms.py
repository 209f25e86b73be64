"""What was chosen for a release: the words from which it is priced, paid for, run, saved and made again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from core.base.errors import BadParameter
from core.mechanisms.kit.protocol import Mechanism
from core.plans.canonical import identity, read_budget, read_names, read_options, read_parts, read_text, spell
from core.privacy.budget import Budget
from core.queries.kit.protocol import QueryClass
from core.registry import mechanism_from, query_from_json, query_to_json

MOST_QUERIES = 1_000
PARTS = frozenset({"table", "queries", "mechanism", "budget", "options", "records", "edition"})


@dataclass(frozen=True, kw_only=True)
class ReleaseTerms:
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

    def to_json(self) -> dict[str, Any]:
        return {
            "table": self.table,
            "queries": [query_to_json(query) for query in self.queries],
            "mechanism": self.mechanism,
            "budget": self.budget.to_json(),
            "options": dict(self.options),
            "records": self.records,
            "edition": self.edition,
        }

    @classmethod
    def from_json(cls, data: object) -> ReleaseTerms:
        """Terms that may come from anywhere; whether they can be carried out is for `build` and the table to say."""
        parts = read_parts(data, PARTS)
        return ReleaseTerms(
            table=None if parts["table"] is None else read_text(parts["table"], "table"),
            queries=_queries(parts["queries"]),
            mechanism=read_text(parts["mechanism"], "mechanism"),
            budget=read_budget(parts["budget"]),
            options=read_options(parts["options"]),
            records=parts["records"],
            edition=parts["edition"],
        )

    @classmethod
    def read(cls, content: str) -> ReleaseTerms:
        return cls.from_json(json.loads(content))

    def write(self) -> str:
        """The one spelling of these terms, from the fields as they are now."""
        return spell(lambda: ReleaseTerms.to_json(self))

    @cached_property
    def content(self) -> str:
        """What the ledger keeps."""
        return self.write()

    @cached_property
    def id(self) -> str:
        return identity(self.content)

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
        )


def _queries(found: object) -> tuple[QueryClass, ...]:
    if not isinstance(found, list) or not found or len(found) > MOST_QUERIES:
        raise BadParameter("queries", f"must be a list of 1 to {MOST_QUERIES:,} query classes.")
    return tuple(query_from_json(read_names(query, "queries")) for query in found)
