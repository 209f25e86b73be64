"""Ledger rows in words."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from core.base.errors import DeskError
from core.base.wording import amount
from core.desk.desk import Desk
from core.ledger.ledger import Entry
from core.plans.discovery_terms import DiscoveryTerms
from core.plans.session_terms import SessionTerms
from core.plans.statements import DeskTable, Statement
from core.plans.terms import Terms, is_release, read_terms
from core.registry import mechanisms
from core.release.release import to_csv
from dashboard.views.common import wording

STATES = {"done": "stored", "running": "running", "stopped": "paid, not finished", "ended": "ended by an error"}


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
    known = mechanisms.get(terms.mechanism)
    return known.title if known else terms.mechanism


def asked(terms: Terms, table: DeskTable | None) -> str:
    """The query classes of a plan; without the schema only their names are known."""
    if isinstance(terms, DiscoveryTerms):
        return f"bounds and categories of {', '.join(terms.columns)}"
    if isinstance(terms, SessionTerms):
        return f"questions about {', '.join(terms.columns or ['all columns'])}"
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
