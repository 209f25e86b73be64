"""What was chosen for a discovery: which columns are surveyed, for what, and with how much."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.mechanisms.discovery.discovery import SurveyKind
from core.plans.canonical import KeptText, read_budget, read_names, read_parts, read_text, spell
from core.privacy.budget import Budget

DISCOVERY = "discovery"
PARTS = frozenset({"kind", "table", "queries", "mechanism", "columns", "budget", "edition"})


@dataclass(frozen=True, kw_only=True)
class DiscoveryTerms(KeptText):
    """Everything that was chosen; `from_json` reads back what `to_json` writes."""

    table: str
    """The place in the ledger where the discoveries of some data are written; it holds no rows."""
    columns: Mapping[str, SurveyKind]
    budget: Budget

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": DISCOVERY,
            "table": self.table,
            "queries": [],
            "mechanism": DISCOVERY,
            "columns": dict(self.columns),
            "budget": self.budget.to_json(),
            "edition": 1,
        }

    @classmethod
    def from_json(cls, data: object) -> DiscoveryTerms:
        parts = read_parts(data, PARTS)
        return DiscoveryTerms(
            table=read_text(parts["table"], "table"),
            columns=read_names(parts["columns"], "columns"),
            budget=read_budget(parts["budget"]),
        )

    def write(self) -> str:
        return spell(lambda: DiscoveryTerms.to_json(self))
