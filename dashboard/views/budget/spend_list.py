"""Ledger rows in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from core.base.errors import DeskError
from core.base.wording import amount
from core.desk.desk import Desk
from core.ledger.ledger import Entry
from core.plans.decision_terms import DecisionTerms
from core.plans.discovery_terms import DiscoveryTerms
from core.plans.session_terms import SessionTerms
from core.plans.statements import DeskTable, Statement
from core.plans.terms import Terms, is_release, read_terms
from core.registry import decisions, mechanisms
from core.release.files.spreadsheet import to_csv
from dashboard.views.common import messages, wording

STATES = {"done": "stored", "running": "running", "stopped": "paid, not finished", "ended": "ended by an error"}


def whose(desk: Desk, table: DeskTable, tables: Sequence[DeskTable], statement: Statement) -> None:
    """Which account this is, which other tables spend from it, and which could but are kept apart."""
    name = desk.account_name(table)
    others = [other.name for other in tables if other.id != table.id and desk.same_account(other, table)]
    sharing = f", with {', '.join(map(repr, others))}" if others else ""
    if others or name != table.name:
        messages.note(messages.plain(f"This is the account '{name}'{sharing}."), "curator only")
    for kept in statement.apart:
        line = f"Its rows seem to be those of the account '{kept.name}'. Kept apart since {kept.at[:10]}: {kept.reason}"
        messages.note(messages.plain(line), "curator only")


def line(entry: Entry, table: DeskTable | None) -> str:
    """One release in one line."""
    terms = read_terms(entry.plan_json)
    parts = [title(terms), asked(terms, table), f"ε {wording.number(terms.budget.epsilon)}"]
    if not isinstance(terms, DiscoveryTerms) and terms.edition > 1:
        parts.append(f"edition {terms.edition}")
    return " · ".join([*parts, wording.moment(entry.reserved_at)])


def left(statement: Statement) -> str:
    """What one more release may cost."""
    most, delta = wording.at_most(statement.left_epsilon), wording.number(statement.budget.delta)
    share = wording.percent(1 - statement.spent_share)
    return f"{share} of the budget is left: one more release may have ε up to {most} at δ = {delta}."


def more(statement: Statement) -> str | None:
    """How many more releases like the last one the budget can pay."""
    last = next((entry.units for entry in statement.entries if is_release(entry)), 0)
    spent = sum(entry.units for entry in statement.entries)
    return amount(max(0, statement.total - spent) // last) if last else None


def export(desk: Desk, statement: Statement, tables: Mapping[str, DeskTable]) -> bytes:
    """The ledger as CSV; budgets and spends are not computed from the rows."""
    return to_csv(frame(desk, statement, tables))


def title(terms: Terms) -> str:
    if isinstance(terms, DiscoveryTerms):
        return "Bought suggestions"
    known = decisions.get(terms.mechanism) if isinstance(terms, DecisionTerms) else mechanisms.get(terms.mechanism)
    return known.title if known else terms.mechanism


def asked(terms: Terms, table: DeskTable | None) -> str:
    """The query classes of a plan; without the schema only their names are known."""
    if isinstance(terms, DiscoveryTerms):
        return f"bounds and categories of {', '.join(terms.columns)}"
    if isinstance(terms, SessionTerms):
        return f"questions about {', '.join(terms.columns or ['all columns'])}"
    if isinstance(terms, DecisionTerms):
        return f"a decision: {decisions[terms.mechanism].problem}" if terms.mechanism in decisions else "a decision"
    if table is None:
        return ", ".join(query.name for query in terms.queries)
    try:
        return "; ".join(query.sentence(table.domain) for query in terms.queries)
    except DeskError:
        return asked(terms, None)


def frame(desk: Desk, statement: Statement, tables: Mapping[str, DeskTable]) -> pd.DataFrame:
    """The ledger of one account, newest first."""
    lines = []
    for entry in statement.entries:
        terms = read_terms(entry.plan_json)
        lines.append(
            {
                "Paid (UTC)": wording.moment(entry.reserved_at).removesuffix(" UTC"),
                "Mechanism": title(terms),
                "Released": asked(terms, tables.get(entry.dataset_id)),
                "ε": float(terms.budget.epsilon),
                "δ": wording.number(terms.budget.delta),
                "Share": 100 * entry.units / statement.total if statement.total else 100.0,
                "State": STATES[desk.progress(entry.plan_id).state],
            }
        )
    return pd.DataFrame(lines)
