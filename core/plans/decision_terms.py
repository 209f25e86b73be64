"""What was chosen for a decision: the words from which it is priced, paid for, run and made again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.decisions.decision import Decision
from core.plans.canonical import KeptText, read_budget, read_options, read_parts, read_text, spell
from core.privacy.budget import Budget
from core.registry import decision_from

DECISION = "decision"
PARTS = frozenset({"kind", "table", "queries", "mechanism", "budget", "public", "edition"})


@dataclass(frozen=True, kw_only=True)
class DecisionTerms(KeptText):
    """Everything that was chosen; `from_json` reads back what `to_json` writes."""

    table: str
    mechanism: str
    """The name of the decision."""
    public: Mapping[str, Any] = field(default_factory=dict)
    """The public part of the problem: sites, vertices, sets, columns."""
    budget: Budget
    edition: int = 1
    """Which of several decisions of the same choice, each paid for."""

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": DECISION,
            "table": self.table,
            "queries": [],
            "mechanism": self.mechanism,
            "budget": self.budget.to_json(),
            "public": dict(self.public),
            "edition": self.edition,
        }

    @classmethod
    def from_json(cls, data: object) -> DecisionTerms:
        parts = read_parts(data, PARTS)
        return DecisionTerms(
            table=read_text(parts["table"], "table"),
            mechanism=read_text(parts["mechanism"], "mechanism"),
            public=read_options(parts["public"]),
            budget=read_budget(parts["budget"]),
            edition=parts["edition"],
        )

    @classmethod
    def read(cls, content: str) -> DecisionTerms:
        return cls.from_json(json.loads(content))

    def write(self) -> str:
        return spell(lambda: DecisionTerms.to_json(self))

    def build(self) -> Decision:
        """The decision that was chosen, or a sentence that names what is wrong."""
        return decision_from(self.mechanism, self.budget, self.public)
