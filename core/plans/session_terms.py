"""What was chosen for a session: the words from which it is priced, paid for and opened."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.base.errors import BadParameter
from core.mechanisms.kit.interactive import Interactive
from core.plans.canonical import KeptText, read_budget, read_options, read_parts, read_text, spell
from core.privacy.budget import Budget
from core.registry import interactive_from
from core.schema.domain import Domain

SESSION = "session"
PARTS = frozenset({"kind", "table", "queries", "mechanism", "budget", "options", "columns", "earlier", "edition"})


@dataclass(frozen=True, kw_only=True)
class SessionTerms(KeptText):
    """Everything that was chosen, and nothing that follows from it; `from_json` reads back what `to_json` writes."""

    table: str
    mechanism: str
    budget: Budget
    """Reserved as a whole when the session opens, whatever will be asked; what was never used comes back at its end."""
    options: Mapping[str, Any] = field(default_factory=dict)
    columns: tuple[str, ...] | None = None
    """The columns that may be asked about, in the order of the schema; None for all."""
    earlier: str | None = None
    """The plan id of a stored release of the same table that the hypothesis starts from, at no cost."""
    edition: int = 1
    """Which of several sessions of the same choice, each paid for."""

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": SESSION,
            "table": self.table,
            "queries": [],
            "mechanism": self.mechanism,
            "budget": self.budget.to_json(),
            "options": dict(self.options),
            "columns": self.columns,
            "earlier": self.earlier,
            "edition": self.edition,
        }

    @classmethod
    def from_json(cls, data: object) -> SessionTerms:
        parts = read_parts(data, PARTS)
        columns, earlier = parts["columns"], parts["earlier"]
        if columns is not None and not isinstance(columns, list):
            raise BadParameter("columns", "name at least one column as a list, or leave it out for all of them.")
        return SessionTerms(
            table=read_text(parts["table"], "table"),
            mechanism=read_text(parts["mechanism"], "mechanism"),
            budget=read_budget(parts["budget"]),
            options=read_options(parts["options"]),
            columns=None if columns is None else tuple(read_text(name, "columns") for name in columns),
            earlier=None if earlier is None else read_text(earlier, "earlier"),
            edition=parts["edition"],
        )

    @classmethod
    def read(cls, content: str) -> SessionTerms:
        return cls.from_json(json.loads(content))

    def write(self) -> str:
        return spell(lambda: SessionTerms.to_json(self))

    def build(self) -> Interactive:
        """The mechanism that was chosen, or a sentence that names what is wrong."""
        return interactive_from(self.mechanism, self.budget, self.options)


def chosen_columns(columns: Sequence[str] | None, domain: Domain) -> tuple[str, ...] | None:
    """The columns in the order of the schema; None stands for all of them."""
    if columns is None:
        return None
    if isinstance(columns, str) or not columns:
        raise BadParameter("columns", "name at least one column as a list, or leave it out for all of them.")
    for name in columns:
        domain[name]
    named = set(columns)
    return None if len(named) == len(domain) else tuple(name for name in domain.names if name in named)


def narrowed(domain: Domain, columns: Sequence[str] | None) -> Domain:
    """The part of the schema that a session is about."""
    return domain if columns is None else domain.project(columns)


def leave_out(given: Mapping[str, Any], why: str) -> None:
    """Refuse what would be ignored."""
    for name, value in given.items():
        if value is not None:
            raise BadParameter(name, f"leave it out: {why}.")
