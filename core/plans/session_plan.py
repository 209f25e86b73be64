"""A plan for a session: what it is about and what it costs, decided before anything is spent."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from core.base.errors import BadParameter
from core.ledger.ledger import Entry
from core.mechanisms.kit.protocol import Expected
from core.plans.plan import chosen, identity
from core.plans.run_once import is_void
from core.privacy.budget import Budget
from core.privacy.events import Cost
from core.privacy.filters import Amounts
from core.schema.domain import Domain

KIND = "session"


@dataclass(frozen=True, kw_only=True)
class SessionPlan:
    """A priced choice of an interactive mechanism, a budget and columns for one table.

    The id is a digest of the content, as with a release: the same choice made again, in another tab or after a restart,
    is the same session. `edition` asks for a fresh, separately paid one.
    """

    table: str
    mechanism: str
    budget: Budget
    """Reserved as a whole when the session opens, whatever will be asked; nothing is refunded."""
    options: Mapping[str, Any] = field(default_factory=dict)
    columns: tuple[str, ...] | None = None
    """The columns that may be asked about, in the order of the schema; None for all."""
    earlier: str | None = None
    """The plan id of a stored release of the same table that the hypothesis starts from, at no cost."""
    edition: int = 1
    cost: Cost = field(compare=False)
    amounts: Amounts = field(compare=False)
    """The price that was told, in each way of the account; a plan that turns out to have another one is refused."""
    units: int = field(compare=False)
    """Parts of the account's total that it would take, as the account was when the plan was made."""
    expected_error: Expected = field(compare=False)
    hard_answers: int | None = field(compare=False)
    """How many hard answers it can give; None where there is no limit."""

    @cached_property
    def content(self) -> str:
        """Canonical JSON of what was chosen; also what the ledger keeps."""
        return self.written()

    def written(self) -> str:
        """The content from the fields as they are now."""
        return session_content(
            table=self.table,
            mechanism=self.mechanism,
            budget=self.budget,
            options=self.options,
            columns=self.columns,
            earlier=self.earlier,
            edition=self.edition,
        )

    @cached_property
    def id(self) -> str:
        return identity(self.content)


def session_content(
    *,
    table: str,
    mechanism: str,
    budget: Budget,
    options: Mapping[str, Any],
    columns: Sequence[str] | None,
    earlier: str | None,
    edition: int,
) -> str:
    """The one spelling of a choice of what a session is about and how it answers."""
    return chosen(
        lambda: {
            "kind": KIND,
            "table": table,
            "queries": [],
            "mechanism": mechanism,
            "budget": budget.to_json(),
            "options": dict(options),
            "columns": columns,
            "earlier": earlier,
            "edition": edition,
        }
    )


def is_session(entry: Entry) -> bool:
    """Whether a paid plan is a session rather than a release."""
    return json.loads(entry.plan_json).get("kind") == KIND


def is_release(entry: Entry) -> bool:
    """Whether a paid plan gives a release; every other kind of spend says what it is, and a void one gives nothing."""
    return "kind" not in json.loads(entry.plan_json) and not is_void(entry)


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
