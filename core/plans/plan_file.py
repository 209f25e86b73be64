"""A plan as a file: what to release and how, without the table it was made for.

**Privacy** A plan file holds the curator's choices only: questions, mechanism, budget, options and a number of records.
It names columns of the public schema and nothing that was read off a table, so it may be given to anyone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.base.errors import BadFile, BadParameter, DeskError
from core.plans.plan import Plan
from core.privacy.budget import Budget
from core.queries.kit.protocol import QueryClass
from core.registry import mechanism_from, query_from_json, query_to_json

FORMAT = 1
LONGEST = 4_000_000
"""Characters of a plan file; what is longer was not written here."""
MOST_QUERIES = 1_000
PARTS = frozenset({"format", "queries", "mechanism", "budget", "options", "records"})


@dataclass(frozen=True, kw_only=True)
class PlanFile:
    """Everything that was chosen for a release, apart from the table."""

    queries: tuple[QueryClass, ...]
    mechanism: str
    budget: Budget
    options: Mapping[str, Any] = field(default_factory=dict)
    records: int | None = None
    """Synthetic records to draw; None leaves the number to the release."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "queries", tuple(self.queries))
        object.__setattr__(self, "options", dict(self.options))
        for name in ("queries", "budget"):
            if name in self.options:
                raise BadParameter(name, "belongs beside the options of the mechanism, not among them.")
        mechanism_from(self.mechanism, self.queries, self.budget, self.options)
        if self.records is not None and (
            isinstance(self.records, bool) or not isinstance(self.records, int) or self.records < 1
        ):
            raise BadParameter("records", "must be a whole number of at least 1, or null for the release's own.")

    @classmethod
    def of(cls, plan: Plan) -> PlanFile:
        """A plan without its table, edition and price."""
        return cls(
            queries=plan.queries,
            mechanism=plan.mechanism,
            budget=plan.budget,
            options=plan.options,
            records=plan.records,
        )

    def write(self) -> str:
        content = {
            "format": FORMAT,
            "queries": [query_to_json(query) for query in self.queries],
            "mechanism": self.mechanism,
            "budget": self.budget.to_json(),
            "options": dict(self.options),
            "records": self.records,
        }
        return json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False) + "\n"

    @classmethod
    def read(cls, text: str) -> PlanFile:
        """Load a plan that may come from anywhere; whatever is wrong is one sentence."""
        content = _content(text)
        try:
            return cls(
                queries=tuple(query_from_json(query) for query in _queries(content["queries"])),
                mechanism=_text(content["mechanism"], "mechanism"),
                budget=_budget(content["budget"]),
                options=_table(content["options"], "options"),
                records=content["records"],
            )
        except DeskError:
            raise
        except Exception:
            # A class that gets a value of a kind it never thought of; the text of its error may be anything.
            raise BadFile("The plan file has a value of the wrong kind; save the plan again.") from None


def _content(text: str) -> dict[str, Any]:
    if len(text) > LONGEST:
        raise BadFile("The file is too long to be a plan.")
    try:
        content = json.loads(text, object_pairs_hook=_once, parse_constant=_finite)
    except (ValueError, RecursionError):
        raise BadFile("This is no plan of Release Desk; choose a plan.json that was saved on the Plan page.") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise BadFile("This is no plan of Release Desk; choose a plan.json that was saved on the Plan page.")
    for name in sorted(PARTS - content.keys()):
        raise BadParameter(name, "is missing in the plan file; save the plan again.")
    for name in sorted(content.keys() - PARTS):
        raise BadParameter(name, "is not a part of a plan; take it out of the file.")
    return content


def _queries(found: object) -> list[Mapping[str, Any]]:
    if not isinstance(found, list) or not found or len(found) > MOST_QUERIES:
        raise BadParameter("queries", f"must be a list of 1 to {MOST_QUERIES:,} query classes.")
    return [_table(query, "queries") for query in found]


def _budget(found: object) -> Budget:
    parts = _table(found, "budget")
    if parts.keys() != {"epsilon", "delta"}:
        raise BadParameter("budget", "must have an epsilon and a delta, and nothing else.")
    return Budget(*(_text(parts[name], name) for name in ("epsilon", "delta")))


def _table(found: object, name: str) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise BadParameter(name, "must be written as names with values.")
    return found


def _text(found: object, name: str) -> str:
    if not isinstance(found, str):
        raise BadParameter(name, "must be written as text in quotes.")
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A name that is given twice has two meanings; neither is taken."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found


def _finite(text: str) -> float:
    raise ValueError(text)
